import { ReplicaSets } from '@tinkernetes/api';
import type { ReplicaSet } from '@tinkernetes/api';
import { replicaSetCells } from '../../../printers/workloads';
import { isTold, podNameWarnings, templateWarnings } from '../../core/pod/warnings';
import { defineStrategy } from '../../define-strategy';
import { withoutDisabledInTemplate } from '../../pod-spec/disabled-fields';
import { fill, mapMember } from '../../fill';
import { immutable } from '../../immutable';
import { defaultPodTemplate } from '../../pod-spec/defaults';
import { isWellFormed, validateSelectedTemplate, validateWorkloadSelector } from '../../pod-spec/selectors';
import { notNegative } from '../../rules';
import type { Errors } from '../../rules';
import { validateReplicaStatus, withoutReplicas } from '../replica-status';
import { onlyAlways } from '../restart-policy';

function validate({ spec }: ReplicaSet): Errors {
  return [
    ...notNegative('spec.replicas', spec?.replicas),
    ...notNegative('spec.minReadySeconds', spec?.minReadySeconds),
    ...validateWorkloadSelector(spec?.selector, 'deployment', 'invalid label selector'),
    ...(isWellFormed(spec?.selector)
      ? [...validateSelectedTemplate(spec?.template, spec?.selector), ...onlyAlways(spec?.template)]
      : []),
  ];
}

/** Source: k8s.io/kubernetes/pkg/registry/apps/replicaset. */
export const replicaSetStrategy = defineStrategy(ReplicaSets, {
  withoutDisabledFields: withoutDisabledInTemplate,
  default: (set) =>
    mapMember(set, 'spec', (spec) => fill(mapMember(spec, 'template', defaultPodTemplate), { replicas: 1 })),
  prepareForCreate: (set) => ({ ...set, status: { replicas: 0 } }),
  validate,
  validateUpdate: (set, old) => [
    ...validate(set),
    ...immutable('spec.selector', set.spec?.selector, old.spec?.selector),
  ],
  validateStatusUpdate: (set) =>
    validateReplicaStatus(set.status ?? {}, [
      'replicas',
      'fullyLabeledReplicas',
      'readyReplicas',
      'availableReplicas',
    ]),
  warnings: (set, old) => [
    ...(old ? [] : podNameWarnings(set)),
    ...(isTold(set, old) ? templateWarnings(set.spec?.template, 'spec.template') : []),
  ],
  tableCells: replicaSetCells,
  unset: withoutReplicas,
});
