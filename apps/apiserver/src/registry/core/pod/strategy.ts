import { Pods } from '@tinkernetes/api';
import type { Pod, PodCondition } from '@tinkernetes/api';
import { forbidden, qosClassOf } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import { podCells } from '../../../printers/pods';
import { defineStrategy } from '../../define-strategy';
import { mapMember } from '../../fill';
import { defaultPodOnly, defaultPodSpec } from '../../pod-spec/defaults';
import { validatePodSpec } from '../../pod-spec/validate';
import { podFieldNames, podFields } from './fields';
import { withLabelKeys, withoutDisabledFields } from './prepare';
import { podSpecWarnings } from './warnings';
import { preparePodResize, validatePodResize, validatePodUpdate } from './update';

/** A Pod with gates is not scheduled yet, and says so from the start. Source: pod strategy.applySchedulingGatedCondition. */
function gatedCondition(pod: Pod, now: number): PodCondition[] {
  if (!pod.spec?.schedulingGates?.length) return [];
  return [
    {
      type: 'PodScheduled',
      status: 'False',
      lastTransitionTime: formatTime(now),
      reason: 'SchedulingGated',
      message: 'Scheduling is blocked due to non-empty scheduling gates',
    },
  ];
}

/** Source: k8s.io/kubernetes/pkg/registry/core/pod. */
export const podStrategy = defineStrategy(Pods, {
  revalidatesMeta: true,
  hasGeneration: true,
  default: (pod) => mapMember(pod, 'spec', (spec) => defaultPodOnly(defaultPodSpec(spec))),
  prepareForCreate: (pod, { now }) => {
    const conditions = gatedCondition(pod, now);
    const qosClass = qosClassOf(pod.spec);
    return {
      ...mapMember(withLabelKeys(pod), 'spec', withoutDisabledFields),
      status: { phase: 'Pending' as const, ...(conditions.length > 0 ? { conditions } : {}), qosClass },
    };
  },
  validate: (pod) => {
    const { spec } = pod;
    const errors = validatePodSpec(spec, 'spec', pod.metadata.name);
    if (spec.ephemeralContainers?.length)
      errors.push(forbidden('spec.ephemeralContainers', 'cannot be set on create'));
    if (spec.nodeName && spec.schedulingGates?.length) {
      errors.push(forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'));
    }
    return errors;
  },
  prepareForUpdate: (pod) => mapMember(pod, 'spec', withoutDisabledFields),
  validateUpdate: validatePodUpdate,
  prepareForStatusUpdate: (pod, old) => ({
    ...pod,
    metadata: {
      ...pod.metadata,
      deletionTimestamp: old.metadata.deletionTimestamp,
      ownerReferences: old.metadata.ownerReferences,
    },
    status: { ...pod.status, ...(old.status?.qosClass ? { qosClass: old.status.qosClass } : {}) },
  }),
  subresources: {
    resize: { prepareForUpdate: preparePodResize, validateUpdate: validatePodResize },
  },
  warnings: (pod) => podSpecWarnings(pod.spec, 'spec'),
  graceful: (pod, requested) => {
    const isFinished = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
    if (!pod.spec?.nodeName || isFinished) return 0;
    const seconds = requested ?? pod.spec.terminationGracePeriodSeconds ?? 0;
    return seconds < 0 ? 1 : seconds;
  },
  returnDeletedObject: true,
  selectableFieldNames: podFieldNames,
  selectableFields: podFields,
  tableCells: podCells,
});
