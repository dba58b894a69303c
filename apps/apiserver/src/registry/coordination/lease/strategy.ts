import { Leases } from '@tinkernetes/api';
import type { Lease } from '@tinkernetes/api';
import { invalid } from '@tinkernetes/apimachinery';
import { age } from '../../../printers/cells';
import { defineStrategy } from '../../define-strategy';
import { mapMember } from '../../fill';
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

const withoutCoordination = (lease: Lease): Lease =>
  mapMember(lease, 'spec', ({ strategy: _, preferredHolder: __, ...spec }) => spec);

/** Source: k8s.io/kubernetes/pkg/registry/coordination/lease. */
export const leaseStrategy = defineStrategy(Leases, {
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  // They come with a feature that is off.
  prepareForCreate: withoutCoordination,
  prepareForUpdate: withoutCoordination,
  validate,
  tableCells: (lease, now) => [lease.metadata.name, lease.spec?.holderIdentity ?? '', age(lease, now)],
});
