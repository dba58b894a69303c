import type { Service, ServiceSpec } from '@tinkernetes/api';
import { invalid } from '@tinkernetes/apimachinery';
import type { FieldError } from '../contracts';
import { validateClusterIps } from '../registry/core/service/cluster-ips';

type Family = 'IPv4' | 'IPv6';
const addressPath = (i: number) => `spec.clusterIPs[${i}]`;
const policyPath = 'spec.ipFamilyPolicy';
const familyOfAddress = (address: string) => (address.includes(':') ? 'IPv6' : 'IPv4');

/**
 * A new Service's families where its client left them out, or what is wrong with those it has. This cluster has IPv4
 * alone. Source: pkg/registry/core/service/storage/alloc.go, initIPFamilyFields.
 */
export function initFamilies(service: Service): { service: Service; errors: FieldError[] } {
  const spec = service.spec ?? {};
  if (spec.type === 'ExternalName') return { service, errors: [] };
  const refused = validateClusterIps(spec);
  if (refused.length > 0) return { service, errors: refused };
  const isOpen = spec.clusterIP === 'None' && Object.keys(spec.selector ?? {}).length === 0;
  const ipFamilyPolicy = spec.ipFamilyPolicy ?? (isOpen ? 'RequireDualStack' : 'SingleStack');
  const settled = { ...spec, ipFamilyPolicy };
  const errors = [...countErrors(settled), ...addressErrors(settled)];
  if (errors.length > 0) return { service, errors };
  // Who brings addresses of his own for no selector is taken to have those of both families.
  if (isOpen) return { service: withFamilies(service, settled, openFamilies(settled)), errors };
  const families = spec.ipFamilies?.length ? (spec.ipFamilies as Family[]) : (['IPv4'] as const);
  const unknown = families.flatMap((family, i) =>
    family === 'IPv4' ? [] : [invalid(`spec.ipFamilies[${i}]`, family, 'not configured on this cluster')],
  );
  if (unknown.length > 0) return { service, errors: unknown };
  if (ipFamilyPolicy === 'RequireDualStack') {
    const detail = 'this cluster is not configured for dual-stack services';
    return { service, errors: [invalid(policyPath, ipFamilyPolicy, detail)] };
  }
  return { service: withFamilies(service, settled, families), errors: [] };
}

const withFamilies = (service: Service, spec: ServiceSpec, families: readonly Family[]): Service => ({
  ...service,
  spec: { ...spec, ipFamilies: [...families] },
});

function openFamilies({ ipFamilies = [], ipFamilyPolicy }: ServiceSpec): Family[] {
  const [first = 'IPv4', second] = ipFamilies as Family[];
  if (second || ipFamilyPolicy === 'SingleStack') return second ? [first, second] : [first];
  return [first, first === 'IPv4' ? 'IPv6' : 'IPv4'];
}

/** Two of something is not for a single stack. */
function countErrors({ ipFamilyPolicy, clusterIPs = [], ipFamilies = [] }: ServiceSpec): FieldError[] {
  if (ipFamilyPolicy !== 'SingleStack') return [];
  const detail = (what: string) =>
    invalid(
      policyPath,
      ipFamilyPolicy,
      `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`,
    );
  return [
    ...(clusterIPs.length === 2 ? [detail('cluster IPs')] : []),
    ...(ipFamilies.length === 2 ? [detail('IP families')] : []),
  ];
}

/** Addresses whose family nobody gave must be of one that the cluster has. */
const addressErrors = ({ clusterIPs = [], ipFamilies = [] }: ServiceSpec): FieldError[] =>
  clusterIPs.flatMap((address, i) =>
    address === 'None' || i < ipFamilies.length || familyOfAddress(address) === 'IPv4'
      ? []
      : [invalid(addressPath(i), clusterIPs, 'IPv6 is not configured on this cluster')],
  );
