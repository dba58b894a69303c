import type { Service } from '@tinkernetes/api';
import { index, warningsForCidr, warningsForIp } from '@tinkernetes/apimachinery';
import { isHeadless } from './prepare';

const oldTopologyHints = 'service.kubernetes.io/topology-aware-hints';

/** Source: k8s.io/kubernetes/pkg/api/service.GetWarningsForService. */
export function serviceWarnings({ metadata, spec = {} }: Service): string[] {
  const { externalIPs = [], loadBalancerIP = '', loadBalancerSourceRanges = [], type } = spec;
  const hasAddresses = type !== 'ExternalName' && !isHeadless(spec);
  const when = (condition: boolean, text: string) => (condition ? [text] : []);
  return [
    ...when(
      metadata.annotations?.[oldTopologyHints] !== undefined,
      `annotation ${oldTopologyHints} is deprecated, please use service.kubernetes.io/topology-mode instead`,
    ),
    ...(hasAddresses ? (spec.clusterIPs ?? []) : []).flatMap((ip, i) =>
      warningsForIp(index('spec.clusterIPs', i), ip),
    ),
    ...(isHeadless(spec)
      ? [
          ...when(loadBalancerIP !== '', 'spec.loadBalancerIP is ignored for headless services'),
          ...when(externalIPs.length > 0, 'spec.externalIPs is ignored for headless services'),
          ...when(
            spec.sessionAffinity === 'ClientIP',
            'spec.SessionAffinity is ignored for headless services',
          ),
        ]
      : []),
    ...externalIPs.flatMap((ip, i) => warningsForIp(index('spec.externalIPs', i), ip)),
    ...when(
      externalIPs.length > 0 && hasAddresses,
      'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
    ),
    ...(loadBalancerIP ? warningsForIp('spec.loadBalancerIP', loadBalancerIP) : []),
    ...loadBalancerSourceRanges.flatMap((range, i) =>
      warningsForCidr(index('spec.loadBalancerSourceRanges', i), range.trim()),
    ),
    ...when(
      type === 'ExternalName' && externalIPs.length > 0,
      'spec.externalIPs is ignored when spec.type is "ExternalName"',
    ),
    ...when(
      type !== 'ExternalName' && Boolean(spec.externalName),
      'spec.externalName is ignored when spec.type is not "ExternalName"',
    ),
    ...when(
      spec.trafficDistribution === 'PreferClose',
      'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
    ),
  ];
}
