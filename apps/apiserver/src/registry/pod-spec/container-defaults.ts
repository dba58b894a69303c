import type { Container, Lifecycle, Probe, ResourceRequirements } from '@tinkernetes/api';
import { fill, mapList, mapMember } from '../fill';
import { defaultPullPolicy } from './image-defaults';
import { defaultResources } from './resource-defaults';
import { defaultReference } from './volume-defaults';

type HttpAction = NonNullable<Probe['httpGet']>;
const defaultHttpGet = (action: HttpAction): HttpAction => fill(action, { path: '/', scheme: 'HTTP' });

/** For the times and thresholds of probes zero means: not set. */
const withoutZeros = (probe: Probe): Probe => ({
  ...probe,
  timeoutSeconds: probe.timeoutSeconds || undefined,
  periodSeconds: probe.periodSeconds || undefined,
  successThreshold: probe.successThreshold || undefined,
  failureThreshold: probe.failureThreshold || undefined,
});

function defaultProbe(probe: Probe): Probe {
  const timed = fill(
    probe.timeoutSeconds && probe.periodSeconds && probe.successThreshold && probe.failureThreshold
      ? probe
      : withoutZeros(probe),
    { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 },
  );
  return mapMember(mapMember(timed, 'httpGet', defaultHttpGet), 'grpc', (grpc) =>
    fill(grpc, { service: '' }),
  );
}

function defaultLifecycle(lifecycle: Lifecycle): Lifecycle {
  const started = mapMember(lifecycle, 'postStart', (hook) => mapMember(hook, 'httpGet', defaultHttpGet));
  return mapMember(started, 'preStop', (hook) => mapMember(hook, 'httpGet', defaultHttpGet));
}

/** What is limited but not requested is requested at its limit. Pods only, not their templates. */
export function requestLimits<R extends ResourceRequirements>(resources: R): R {
  const { limits, requests } = resources;
  if (!limits || (requests && Object.keys(limits).every((name) => requests[name] !== undefined)))
    return resources;
  const all = { ...limits, ...requests };
  return {
    ...resources,
    requests: Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** Source: k8s.io/kubernetes/pkg/apis/core/v1 defaults of Container and its parts. */
export function defaultContainer<C extends Container>(container: C): C {
  let result: Container = fill(container as Container, {
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: defaultPullPolicy(container.image ?? ''),
  });
  result = mapMember(result, 'resources', defaultResources);
  result = mapMember(result, 'ports', (ports) => mapList(ports, (port) => fill(port, { protocol: 'TCP' })));
  result = mapMember(result, 'env', (env) =>
    mapList(env, (variable) => mapMember(variable, 'valueFrom', defaultReference)),
  );
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
    result = mapMember(result, name, defaultProbe);
  }
  return mapMember(result, 'lifecycle', defaultLifecycle) as C;
}
