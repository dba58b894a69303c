import { ReplicationControllers } from '@tinkernetes/api';
import type { ReplicationController } from '@tinkernetes/api';
import { required, selectorOfMap } from '@tinkernetes/apimachinery';
import { replicationControllerCells } from '../../../printers/workloads';
import { validateReplicaStatus } from '../../apps/replica-status';
import { onlyAlways } from '../../apps/restart-policy';
import { defineStrategy } from '../../define-strategy';
import { withoutDisabledInTemplate } from '../../pod-spec/disabled-fields';
import { fill, mapMember } from '../../fill';
import { defaultPodTemplate } from '../../pod-spec/defaults';
import { validateSelectedTemplate } from '../../pod-spec/selectors';
import { notNegative } from '../../rules';
import type { Errors } from '../../rules';
import { isTold, templateWarnings } from '../pod/warnings';

const isEmpty = (map: object | undefined): boolean => Object.keys(map ?? {}).length === 0;

function validate({ spec }: ReplicationController): Errors {
  const selector = spec?.selector;
  return [
    ...notNegative('spec.minReadySeconds', spec?.minReadySeconds),
    ...(isEmpty(selector) ? [required('spec.selector')] : []),
    ...notNegative('spec.replicas', spec?.replicas),
    ...validateSelectedTemplate(spec?.template, selectorOfMap(selector)),
    ...onlyAlways(spec?.template, 'ReplicationController'),
  ];
}

/** Labels and selector come from the template where they are missing. */
function withTemplateLabels(controller: ReplicationController): ReplicationController {
  const labels = controller.spec?.template?.metadata?.labels;
  if (!labels) return controller;
  const selected = isEmpty(controller.spec?.selector)
    ? { ...controller, spec: { ...controller.spec, selector: labels } }
    : controller;
  return isEmpty(selected.metadata.labels)
    ? { ...selected, metadata: { ...selected.metadata, labels } }
    : selected;
}

/** Source: k8s.io/kubernetes/pkg/registry/core/replicationcontroller. */
export const replicationControllerStrategy = defineStrategy(ReplicationControllers, {
  withoutDisabledFields: withoutDisabledInTemplate,
  default: (controller) =>
    withTemplateLabels(
      mapMember(controller, 'spec', (spec) =>
        fill(mapMember(spec, 'template', defaultPodTemplate), { replicas: 1 }),
      ),
    ),
  prepareForCreate: (controller) => ({ ...controller, status: { replicas: 0 } }),
  validate,
  validateStatusUpdate: (controller) =>
    validateReplicaStatus(controller.status ?? {}, [
      'replicas',
      'fullyLabeledReplicas',
      'readyReplicas',
      'availableReplicas',
    ]),
  // Of an update, upstream warns of what was there before.
  warnings: (controller, old) =>
    isTold(controller, old) ? templateWarnings((old ?? controller).spec?.template, 'spec.template') : [],
  defaultOrphanDependents: true,
  selectableFieldNames: ['status.replicas'],
  selectableFields: ({ status }) => ({ 'status.replicas': String(status?.replicas ?? 0) }),
  tableCells: replicationControllerCells,
});
