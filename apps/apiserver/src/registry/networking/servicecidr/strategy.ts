import { ServiceCIDRs } from '@tinkernetes/api';
import type { ServiceCIDR } from '@tinkernetes/api';
import { isCanonicalCidr, parseCidr, required, invalid } from '@tinkernetes/apimachinery';
import { age } from '../../../printers/cells';
import { defineStrategy } from '../../define-strategy';
import { immutable } from '../../immutable';
import { check, eachOf } from '../../rules';
import type { Errors } from '../../rules';

function validate({ spec }: ServiceCIDR): Errors {
  const cidrs = spec?.cidrs ?? [];
  if (cidrs.length === 0) return [required('spec.cidrs', 'at least one CIDR required')];
  if (cidrs.length > 2) return [invalid('spec.cidrs', { CIDRs: cidrs }, 'may only hold up to 2 values')];
  const errors = eachOf('spec.cidrs', cidrs, (cidr, at) => check(at, cidr, isCanonicalCidr));
  const families = cidrs.map((cidr) => parseCidr(cidr)?.family);
  const detail = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64';
  const isRepeated = families[1] !== undefined && families[0] === families[1];
  return isRepeated ? [...errors, invalid('spec.cidrs', cidrs, detail)] : errors;
}

/** Source: k8s.io/kubernetes/pkg/registry/networking/servicecidr. */
export const serviceCidrStrategy = defineStrategy(ServiceCIDRs, {
  keptByStatus: 'all',
  hasGeneration: false,
  validate,
  validateUpdate: ({ spec }, { spec: oldSpec }) => {
    const [cidrs, before] = [spec?.cidrs ?? [], oldSpec?.cidrs ?? []];
    return cidrs.length === before.length
      ? eachOf('spec.cidrs', cidrs, (cidr, at, i) => immutable(at, cidr, before[i]))
      : immutable('spec.cidrs', spec?.cidrs, oldSpec?.cidrs);
  },
  tableCells: (object, now) => [object.metadata.name, (object.spec?.cidrs ?? []).join(','), age(object, now)],
});
