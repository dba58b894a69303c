import type { Container, HTTPGetAction, IntOrString, LifecycleHandler, Pod } from '@tinkernetes/api';
import type { Clock } from '@tinkernetes/component-base';
import type { RuntimeClient } from '@tinkernetes/cri';
import type { Dialer } from '@tinkernetes/vnet';
import { dialErrorText, hostPort, httpGet, isPlainAnswer } from '../network/http-check';

export interface HookDeps {
  runtime: RuntimeClient;
  dialer: Dialer;
  clock: Clock;
  userAgent: string;
}
export interface HookTarget {
  pod: Pod;
  container: Container;
  containerId: string;
  podIP: string;
}

const httpTimeoutMs = 30_000;

/** A port by number, or by the name the container declares it under. */
export function findPort(port: IntOrString, container: Container): number | undefined {
  const numeric = Number(port);
  if (Number.isInteger(numeric) && numeric > 0) return numeric;
  return container.ports?.find((p) => p.name === port)?.containerPort;
}

/**
 * Runs a postStart or preStop handler to its end; rejects when it fails, with what `kubectl describe pod` shows of it.
 * Source: pkg/kubelet/lifecycle.
 */
export async function runHook(
  handler: LifecycleHandler,
  { pod, container, containerId, podIP }: HookTarget,
  { runtime, dialer, clock, userAgent, signal }: HookDeps & { signal?: AbortSignal },
): Promise<void> {
  const { name, namespace, uid } = pod.metadata;
  const place = `Container "${container.name}" in Pod "${name}_${namespace}(${uid})"`;
  if (handler.exec) {
    const cmd = handler.exec.command ?? [];
    const { exitCode, stdout, stderr } = await runtime.execSync(
      { containerId, cmd },
      { timeoutMs: 0, signal },
    );
    if (exitCode !== 0) {
      const output = JSON.stringify(Buffer.concat([stdout, stderr]).toString());
      const why = `command '${cmd.join(' ')}' exited with ${exitCode}: ${stderr.toString()}`;
      throw new Error(
        `Exec lifecycle hook ([${cmd.join(' ')}]) for ${place} failed - error: ${why}, message: ${output}`,
      );
    }
  } else if (handler.httpGet) {
    const { path = '' } = handler.httpGet;
    try {
      await runHttpHook(handler.httpGet, { container, podIP }, { dialer, userAgent });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`HTTP lifecycle hook (${path}) for ${place} failed - error: ${why}`, { cause: error });
    }
  } else if (handler.sleep) {
    await clock.sleep(handler.sleep.seconds * 1000, signal);
  }
}

/** Any answer will do, also over plain HTTP where TLS was asked for. */
async function runHttpHook(
  action: HTTPGetAction,
  { container, podIP }: Pick<HookTarget, 'container' | 'podIP'>,
  { dialer, userAgent }: Pick<HookDeps, 'dialer' | 'userAgent'>,
): Promise<void> {
  const port = action.port === undefined || action.port === '' ? 80 : findPort(action.port, container);
  if (port === undefined) throw new Error(`couldn't find port: ${action.port}`);
  const host = action.host || podIP;
  const path = action.path ?? '/';
  const check = {
    scheme: action.scheme === 'HTTPS' ? 'HTTPS' : 'HTTP',
    host,
    port,
    path: path.startsWith('/') ? path : `/${path}`,
    headers: action.httpHeaders ?? [],
    timeoutMs: httpTimeoutMs,
    userAgent,
  } as const;
  try {
    await httpGet(dialer, check);
  } catch (error) {
    if (check.scheme === 'HTTPS' && isPlainAnswer(error)) {
      await httpGet(dialer, { ...check, scheme: 'HTTP' });
      return;
    }
    const url = `${check.scheme.toLowerCase()}://${hostPort(host, port)}${check.path}`;
    throw new Error(`Get "${url}": ${dialErrorText(error, host, port)}`, { cause: error });
  }
}
