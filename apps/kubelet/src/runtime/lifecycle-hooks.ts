import type { Container, HTTPGetAction, IntOrString, LifecycleHandler, Pod } from '@tinkernetes/api';
import type { Clock } from '@tinkernetes/component-base';
import type { RuntimeClient } from '@tinkernetes/cri';
import type { Dialer } from '@tinkernetes/vnet';
import { httpGet } from '../network/http-check';

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
export function resolvePort(port: IntOrString | undefined, container: Container): number {
  const numeric = Number(port);
  if (port !== undefined && Number.isInteger(numeric) && numeric > 0) return numeric;
  const named = container.ports?.find((p) => p.name === port);
  if (!named) throw new Error(`couldn't find port: ${String(port)} in container ${container.name}`);
  return named.containerPort;
}

/** Runs a postStart or preStop handler to its end; rejects when it fails. Source: pkg/kubelet/lifecycle. */
export async function runHook(
  handler: LifecycleHandler,
  { container, containerId, podIP }: HookTarget,
  { runtime, dialer, clock, userAgent, signal }: HookDeps & { signal?: AbortSignal },
): Promise<void> {
  if (handler.exec) {
    const cmd = handler.exec.command ?? [];
    const { exitCode, stdout, stderr } = await runtime.execSync(
      { containerId, cmd },
      { timeoutMs: 0, signal },
    );
    if (exitCode !== 0) {
      throw new Error(
        `command '${cmd.join(' ')}' exited with ${exitCode}: ${Buffer.concat([stdout, stderr]).toString()}`,
      );
    }
  } else if (handler.httpGet) {
    await runHttpHook(handler.httpGet, { container, podIP }, { dialer, userAgent });
  } else if (handler.sleep) {
    await clock.sleep(handler.sleep.seconds * 1000, signal);
  }
}

async function runHttpHook(
  action: HTTPGetAction,
  { container, podIP }: Pick<HookTarget, 'container' | 'podIP'>,
  { dialer, userAgent }: Pick<HookDeps, 'dialer' | 'userAgent'>,
): Promise<void> {
  const path = action.path ?? '/';
  const { status } = await httpGet(dialer, {
    scheme: action.scheme === 'HTTPS' ? 'HTTPS' : 'HTTP',
    host: action.host || podIP,
    port: resolvePort(action.port, container),
    path: path.startsWith('/') ? path : `/${path}`,
    headers: action.httpHeaders ?? [],
    timeoutMs: httpTimeoutMs,
    userAgent,
  });
  if (status < 200 || status >= 400) throw new Error(`HTTP hook answered ${status}`);
}
