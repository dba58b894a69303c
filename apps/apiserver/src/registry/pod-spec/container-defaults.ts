import type { Container, Lifecycle, Probe, ResourceRequirements } from '@tinkernetes/api';
import { Quantity } from '@tinkernetes/apimachinery';
import { fill, mapList, mapMember } from '../fill';
import { defaultPullPolicy } from './image-defaults';
import { defaultReference } from './volume-defaults';

type HttpAction = NonNullable<Probe['httpGet']>;
const defaultHttpGet = (action: HttpAction): HttpAction => fill(action, { path: '/', scheme: 'HTTP' });

const positive = (value: number | undefined, otherwise: number): number =>
  value === undefined || value === 0 ? otherwise : value;

function defaultProbe(probe: Probe): Probe {
  const timed: Probe = {
    ...probe,
    timeoutSeconds: positive(probe.timeoutSeconds, 1),
    periodSeconds: positive(probe.periodSeconds, 10),
    successThreshold: positive(probe.successThreshold, 1),
    failureThreshold: positive(probe.failureThreshold, 3),
  };
  return mapMember(mapMember(timed, 'httpGet', defaultHttpGet), 'grpc', (grpc) =>
    fill(grpc, { service: '' }),
  );
}

function defaultLifecycle(lifecycle: Lifecycle): Lifecycle {
  const started = mapMember(lifecycle, 'postStart', (hook) => mapMember(hook, 'httpGet', defaultHttpGet));
  return mapMember(started, 'preStop', (hook) => mapMember(hook, 'httpGet', defaultHttpGet));
}

/** Quantities are rounded up to thousandths, as upstream's defaulting does. */
export function roundUpToMilli(list: Record<string, string | number>): Record<string, string | number> {
  return Object.fromEntries(
    Object.entries(list).map(([name, text]) => {
      const quantity = Quantity.parse(text);
      if (quantity.isMilliInteger) return [name, quantity.toString()];
      return [name, Quantity.ofMilli(quantity.milliValue(), quantity.format).toString()];
    }),
  );
}

export function defaultResources<R extends Pick<ResourceRequirements, 'limits' | 'requests'>>(
  resources: R,
): R {
  return mapMember(mapMember(resources, 'limits', roundUpToMilli), 'requests', roundUpToMilli);
}

/** What is limited but not requested is requested at its limit. Pods only, not their templates. */
export function requestLimits<R extends ResourceRequirements>(resources: R): R {
  if (!resources.limits) return resources;
  const requests = { ...resources.limits, ...resources.requests };
  return {
    ...resources,
    requests: Object.fromEntries(Object.entries(requests).sort(([a], [b]) => (a < b ? -1 : 1))),
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
