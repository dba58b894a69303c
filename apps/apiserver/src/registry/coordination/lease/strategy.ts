import { Leases } from '@tinkernetes/api';
import type { Lease } from '@tinkernetes/api';
import { invalid } from '@tinkernetes/apimachinery';
import { age } from '../../../printers/cells';
import { defineStrategy } from '../../define-strategy';
import { notNegative } from '../../rules';
import type { Errors } from '../../rules';

function validate({ spec }: Lease): Errors {
  const seconds = spec?.leaseDurationSeconds;
  return [
    ...(seconds !== undefined && seconds <= 0
      ? [invalid('spec.leaseDurationSeconds', seconds, 'must be greater than 0')]
      : []),
    ...notNegative('spec.leaseTransitions', spec?.leaseTransitions),
  ];
}

/** Source: k8s.io/kubernetes/pkg/registry/coordination/lease. */
export const leaseStrategy = defineStrategy(Leases, {
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  validate,
  tableCells: (lease, now) => [lease.metadata.name, lease.spec?.holderIdentity ?? '', age(lease, now)],
});
