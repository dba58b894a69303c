import type { EndpointSlice, Service } from '@tinkernetes/api';
import { keyOf } from '@tinkernetes/apimachinery';
import type { Lister } from '@tinkernetes/informers';
import { serviceIndex } from '../rules/rule-table';

/** What a load balancer asks a node about one Service: how many endpoints it has here. */
export interface HealthCheck {
  port: number;
  namespace: string;
  name: string;
  localEndpoints: number;
}

/**
 * The health checks of Services that keep their traffic on the node (`healthCheckNodePort`). Endpoints that end do not
 * count: a load balancer should stop sending while they still serve. Pure. Source: k8s.io/kubernetes/pkg/proxy/healthcheck.
 */
export function healthChecks(
  services: readonly Service[],
  slices: Lister<EndpointSlice>,
  nodeName: string,
): HealthCheck[] {
  return services.flatMap((service) => {
    const { healthCheckNodePort: port, externalTrafficPolicy, type } = service.spec ?? {};
    if (!port || type !== 'LoadBalancer' || externalTrafficPolicy !== 'Local') return [];
    const local = slices
      .byIndex(serviceIndex, keyOf(service))
      .flatMap(({ endpoints = [] }) => endpoints)
      .filter((e) => e.nodeName === nodeName && e.conditions?.ready !== false);
    const addresses = new Set(local.map((e) => e.addresses[0]));
    const { name, namespace = '' } = service.metadata;
    return [{ port, namespace, name, localEndpoints: addresses.size }];
  });
}
