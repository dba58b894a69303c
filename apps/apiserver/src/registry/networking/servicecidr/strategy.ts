import { ServiceCIDRs } from '@tinkernetes/api';
import type { ServiceCIDR } from '@tinkernetes/api';
import { isValidCidr, required, invalid } from '@tinkernetes/apimachinery';
import { age } from '../../../printers/cells';
import { defineStrategy } from '../../define-strategy';
import { immutable } from '../../immutable';
import { check, eachOf } from '../../rules';
import type { Errors } from '../../rules';

function validate({ spec }: ServiceCIDR): Errors {
  const cidrs = spec?.cidrs ?? [];
  if (cidrs.length === 0) return [required('spec.cidrs', 'at least one CIDR required')];
  const errors: Errors =
    cidrs.length > 2 ? [invalid('spec.cidrs', { CIDRs: cidrs }, 'may only hold up to 2 values')] : [];
  return [...errors, ...eachOf('spec.cidrs', cidrs, (cidr, at) => check(at, cidr, isValidCidr))];
}

/** Source: k8s.io/kubernetes/pkg/registry/networking/servicecidr. */
export const serviceCidrStrategy = defineStrategy(ServiceCIDRs, {
  hasGeneration: false,
  validate,
  validateUpdate: (object, old) => immutable('spec.cidrs', object.spec?.cidrs, old.spec?.cidrs),
  tableCells: (object, now) => [object.metadata.name, (object.spec?.cidrs ?? []).join(','), age(object, now)],
});
