import type {
  ExecAction,
  GRPCAction,
  HTTPGetAction,
  Lifecycle,
  Probe,
  SleepAction,
  TCPSocketAction,
} from '@tinkernetes/api';
import { child, forbidden, invalid, isHttpHeaderName, required } from '@tinkernetes/apimachinery';
import { notNegative, portNumber, portNumberOrName, requireOneOf, requireValue } from '../rules';
import type { Errors } from '../rules';

interface Handler {
  exec?: ExecAction;
  httpGet?: HTTPGetAction;
  tcpSocket?: TCPSocketAction;
  grpc?: GRPCAction;
  sleep?: SleepAction;
}

function validateHttpGet(action: HTTPGetAction, path: string): Errors {
  return [
    ...requireValue(child(path, 'path'), action.path),
    ...portNumberOrName(child(path, 'port'), action.port),
    ...requireOneOf(child(path, 'scheme'), action.scheme, ['HTTP', 'HTTPS']),
    ...(action.httpHeaders ?? []).flatMap((header) =>
      isHttpHeaderName(header.name).map((text) => invalid(child(path, 'httpHeaders'), header.name, text)),
    ),
  ];
}

function validateSleep(action: SleepAction, path: string, graceSeconds: number): Errors {
  // Negative graces are those of old objects; nothing is compared with them.
  if (graceSeconds < 0 ? action.seconds === 1 : action.seconds >= 0 && action.seconds <= graceSeconds)
    return [];
  const detail = `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`;
  return [invalid(path, action.seconds, detail)];
}

/** Exactly one way to act. */
function validateHandler(handler: Handler, path: string, graceSeconds: number): Errors {
  const rules: Array<[keyof Handler, (at: string) => Errors]> = [
    ['exec', (at) => (handler.exec?.command?.length ? [] : [required(child(at, 'command'))])],
    ['httpGet', (at) => (handler.httpGet ? validateHttpGet(handler.httpGet, at) : [])],
    ['tcpSocket', (at) => portNumberOrName(child(at, 'port'), handler.tcpSocket?.port)],
    ['grpc', (at) => portNumber(child(at, 'port'), handler.grpc?.port ?? 0)],
    ['sleep', (at) => (handler.sleep ? validateSleep(handler.sleep, at, graceSeconds) : [])],
  ];
  const given = rules.filter(([name]) => handler[name] !== undefined && handler[name] !== null);
  if (given.length === 0) return [required(path, 'must specify a handler type')];
  return given.flatMap(([name, rule], i) => {
    const at = child(path, name);
    return i === 0 ? rule(at) : [forbidden(at, 'may not specify more than 1 handler type')];
  });
}

function validateProbe(probe: Probe, path: string, graceSeconds: number): Errors {
  const timings = [
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  ] as const;
  const grace = probe.terminationGracePeriodSeconds;
  return [
    ...validateHandler(probe, path, graceSeconds),
    ...timings.flatMap((name) => notNegative(child(path, name), probe[name])),
    ...(grace !== undefined && grace <= 0
      ? [invalid(child(path, 'terminationGracePeriodSeconds'), grace, 'must be greater than 0')]
      : []),
  ];
}

function mustSucceedOnce(probe: Probe, path: string): Errors {
  return probe.successThreshold === 1
    ? []
    : [invalid(child(path, 'successThreshold'), probe.successThreshold, 'must be 1')];
}

/** Liveness, readiness and startup probes of a container. */
export function validateProbes(
  container: { livenessProbe?: Probe; readinessProbe?: Probe; startupProbe?: Probe },
  path: string,
  graceSeconds: number,
): Errors {
  const { livenessProbe, readinessProbe, startupProbe } = container;
  const errors: Errors = [];
  if (livenessProbe) {
    const at = child(path, 'livenessProbe');
    errors.push(...validateProbe(livenessProbe, at, graceSeconds), ...mustSucceedOnce(livenessProbe, at));
  }
  if (readinessProbe) {
    const at = child(path, 'readinessProbe');
    errors.push(...validateProbe(readinessProbe, at, graceSeconds));
    const grace = readinessProbe.terminationGracePeriodSeconds;
    if (grace !== undefined) {
      errors.push(
        invalid(child(at, 'terminationGracePeriodSeconds'), grace, 'must not be set for readinessProbes'),
      );
    }
  }
  if (startupProbe) {
    const at = child(path, 'startupProbe');
    errors.push(...validateProbe(startupProbe, at, graceSeconds), ...mustSucceedOnce(startupProbe, at));
  }
  return errors;
}

export function validateLifecycle(
  lifecycle: Lifecycle | undefined,
  path: string,
  graceSeconds: number,
): Errors {
  const errors: Errors = [];
  if (lifecycle?.postStart)
    errors.push(...validateHandler(lifecycle.postStart, child(path, 'postStart'), graceSeconds));
  if (lifecycle?.preStop)
    errors.push(...validateHandler(lifecycle.preStop, child(path, 'preStop'), graceSeconds));
  return errors;
}
