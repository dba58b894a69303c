import type { Container, IntOrString, Pod, Probe } from '@tinkernetes/api';
import { isCriError, type RuntimeClient } from '@tinkernetes/cri';
import type { Dialer } from '@tinkernetes/vnet';
import { withRealDeadline } from '../network/deadline';
import { grpcHealth, HealthRPCError, HealthTimeoutError } from '../network/grpc-health';
import { dialErrorText, hostPort, httpGet } from '../network/http-check';
import { findPort } from '../runtime/lifecycle-hooks';
import { expand } from '../environment/expansion';

export type ProbeKind = 'liveness' | 'readiness' | 'startup';
/** `unknown`: the probe itself could not be carried out. */
export interface ProbeOutcome {
  result: 'success' | 'failure' | 'unknown';
  output: string;
  /** It counts as a success, but the user should know of it. */
  warning?: boolean;
}

export interface ProbeTarget {
  pod: Pod;
  container: Container;
  containerId: string;
  podIP: string;
}
export interface ProberDeps {
  runtime: RuntimeClient;
  dialer: Dialer;
  userAgent: string;
}

/** Carries out one probe. Source: pkg/kubelet/prober/prober.go, pkg/probe. */
export function runProbe(probe: Probe, target: ProbeTarget, deps: ProberDeps): Promise<ProbeOutcome> {
  const timeoutMs = (probe.timeoutSeconds ?? 1) * 1000;
  if (probe.exec) return probeExec(probe.exec.command ?? [], { ...target, timeoutMs }, deps);
  if (probe.httpGet) return probeHTTP(probe.httpGet, { ...target, timeoutMs }, deps);
  if (probe.tcpSocket) return probeTCP(probe.tcpSocket, { ...target, timeoutMs }, deps);
  if (probe.grpc) return probeGRPC(probe.grpc, { ...target, timeoutMs }, deps);
  return Promise.resolve({ result: 'unknown', output: 'missing probe handler' });
}

/** Source: pkg/probe ResolveContainerPort, which takes an unknown name for a number that is none. */
function probedPort(port: IntOrString, container: Container): number {
  const found = findPort(port, container);
  if (found === undefined) throw new Error(`strconv.Atoi: parsing "${port}": invalid syntax`);
  return found;
}

type TimedTarget = ProbeTarget & { timeoutMs: number };

async function probeExec(
  command: readonly string[],
  { container, containerId, timeoutMs }: TimedTarget,
  { runtime }: ProberDeps,
): Promise<ProbeOutcome> {
  const values = new Map((container.env ?? []).map((e) => [e.name, e.value ?? '']));
  const cmd = command.map((text) => expand(text, (name) => values.get(name)));
  try {
    const answer = await runtime.execSync(
      { containerId, cmd, timeout: Math.ceil(timeoutMs / 1000) },
      { timeoutMs: timeoutMs + 5000 },
    );
    const output = Buffer.concat([answer.stdout, answer.stderr]).toString();
    return { result: answer.exitCode === 0 ? 'success' : 'failure', output };
  } catch (error) {
    if (isCriError(error, 'DEADLINE_EXCEEDED')) {
      return {
        result: 'failure',
        output: `command timed out: "${cmd.join(' ')}" timed out after ${timeoutMs / 1000}s`,
      };
    }
    return { result: 'unknown', output: String(error) };
  }
}

async function probeHTTP(
  action: NonNullable<Probe['httpGet']>,
  { container, podIP, timeoutMs }: TimedTarget,
  { dialer, userAgent }: ProberDeps,
): Promise<ProbeOutcome> {
  const host = action.host || podIP;
  const port = probedPort(action.port, container);
  const raw = action.path ?? '/';
  const path = raw.startsWith('/') ? raw : `/${raw}`;
  const scheme = action.scheme === 'HTTPS' ? 'HTTPS' : 'HTTP';
  const url = `${scheme.toLowerCase()}://${hostPort(host, port)}${path}`;
  try {
    const headers = action.httpHeaders ?? [];
    const { status, body } = await httpGet(dialer, {
      scheme,
      host,
      port,
      path,
      headers,
      timeoutMs,
      userAgent,
    });
    if (status >= 300 && status < 400)
      return {
        result: 'success',
        output: `Probe terminated redirects, Response body: ${body}`,
        warning: true,
      };
    if (status >= 200 && status < 300) return { result: 'success', output: body };
    return { result: 'failure', output: `HTTP probe failed with statuscode: ${status}` };
  } catch (error) {
    const name = (error as Error).name;
    if (name === 'TimeoutError' || name === 'AbortError') {
      const why = 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)';
      return { result: 'failure', output: `Get "${url}": ${why}` };
    }
    return { result: 'failure', output: `Get "${url}": ${dialErrorText(error, host, port)}` };
  }
}

async function probeTCP(
  action: NonNullable<Probe['tcpSocket']>,
  { container, podIP, timeoutMs }: TimedTarget,
  { dialer }: ProberDeps,
): Promise<ProbeOutcome> {
  const host = action.host || podIP;
  const port = probedPort(action.port, container);
  try {
    const socket = await withRealDeadline(timeoutMs, (signal) =>
      dialer.dial({ host, port, timeoutMs, signal }),
    );
    socket.on('error', () => undefined).destroy();
    return { result: 'success', output: '' };
  } catch (error) {
    return { result: 'failure', output: dialErrorText(error, host, port) };
  }
}

async function probeGRPC(
  action: NonNullable<Probe['grpc']>,
  { podIP: host, timeoutMs }: TimedTarget,
  { dialer }: ProberDeps,
): Promise<ProbeOutcome> {
  const { port, service = '' } = action;
  try {
    const status = await grpcHealth(dialer, { host, port, service, timeoutMs });
    if (status === 'SERVING') return { result: 'success', output: 'service healthy' };
    return { result: 'failure', output: `service unhealthy (responded with "${status}")` };
  } catch (error) {
    return { result: 'failure', output: grpcFailure(error, `"${hostPort(host, port)}"`, timeoutMs) };
  }
}

/** Source: pkg/probe/grpc. A connection that is refused is tried until the time is over there. */
function grpcFailure(error: unknown, address: string, timeoutMs: number): string {
  if (error instanceof HealthRPCError && error.code === 'Unimplemented')
    return `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${error.description}`;
  if (error instanceof HealthRPCError) return `error: health rpc probe failed: ${error.message}`;
  const within = `within ${timeoutMs / 1000}s`;
  if (error instanceof HealthTimeoutError) return `timeout: health rpc did not complete ${within}`;
  return `timeout: failed to connect service ${address} ${within}: context deadline exceeded`;
}
