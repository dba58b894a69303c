import type { Service, ServiceSpec } from '@tinkernetes/api';
import { fill, mapList, mapMember } from '../../fill';

const clientIpSeconds = 10_800;
const isExternal = (type: string | undefined): boolean => type === 'NodePort' || type === 'LoadBalancer';

function defaultSpec(given: ServiceSpec): ServiceSpec {
  let spec = fill(given, { sessionAffinity: 'None', type: 'ClusterIP' });
  if (spec.sessionAffinity === 'None' && spec.sessionAffinityConfig) {
    spec = { ...spec, sessionAffinityConfig: undefined };
  }
  if (spec.sessionAffinity === 'ClientIP' && !spec.sessionAffinityConfig?.clientIP?.timeoutSeconds) {
    const given = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds;
    spec = { ...spec, sessionAffinityConfig: { clientIP: { timeoutSeconds: given ?? clientIpSeconds } } };
  }
  spec = mapMember(spec, 'ports', (ports) =>
    mapList(ports, (port) => {
      const isUnset = port.targetPort === undefined || port.targetPort === 0 || port.targetPort === '';
      return fill(isUnset ? { ...port, targetPort: port.port } : port, { protocol: 'TCP' });
    }),
  );
  if (isExternal(spec.type) || (spec.type === 'ClusterIP' && spec.externalIPs?.length))
    spec = { ...spec, externalTrafficPolicy: spec.externalTrafficPolicy || 'Cluster' };
  if (spec.type !== 'ExternalName') spec = fill(spec, { internalTrafficPolicy: 'Cluster' });
  return spec.type === 'LoadBalancer' ? fill(spec, { allocateLoadBalancerNodePorts: true }) : spec;
}

/** Source: pkg/apis/core/v1.SetDefaults_Service. */
export function defaultService(service: Service): Service {
  const result = mapMember(service, 'spec', defaultSpec);
  if (result.spec?.type !== 'LoadBalancer') return result;
  return mapMember(result, 'status', (status) =>
    mapMember(status, 'loadBalancer', (balancer) =>
      mapMember(balancer, 'ingress', (ingress) =>
        mapList(ingress, (point) => (point.ip ? fill(point, { ipMode: 'VIP' }) : point)),
      ),
    ),
  );
}
