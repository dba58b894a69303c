import { Pods } from '@tinkernetes/api';
import type { Pod, PodCondition } from '@tinkernetes/api';
import { forbidden, qosClassOf } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import { podCells, podRowConditions } from '../../../printers/pods';
import { defineStrategy } from '../../define-strategy';
import { mapMember } from '../../fill';
import { defaultPodOnly, defaultPodSpec } from '../../pod-spec/defaults';
import { withoutDisabledFields } from '../../pod-spec/disabled-fields';
import { withAppArmorFields } from './apparmor';
import { prepareEphemeralContainers, validateEphemeralContainersUpdate } from './ephemeral';
import { podFieldNames, podFields } from './fields';
import { withLabelKeys } from './prepare';
import { isTold, podWarnings } from './warnings';
import { preparePodResize, validatePodResize } from './resize';
import { validatePodUpdate } from './update';
import { validateWholePod } from './validate';

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

/** Where the old field and the list that replaced it differ, the old one counts. Source: pkg/apis/core/v1/conversion.go. */
function withOneAddress(pod: Pod): Pod {
  const { podIP, podIPs } = pod.status ?? {};
  if (!podIP || !podIPs?.length || podIPs[0]?.ip === podIP) return pod;
  return { ...pod, status: { ...pod.status, podIPs: [{ ip: podIP }] } };
}

/** Source: k8s.io/kubernetes/pkg/registry/core/pod. */
export const podStrategy = defineStrategy(Pods, {
  hasGeneration: true,
  withoutDisabledFields: (pod) => mapMember(pod, 'spec', withoutDisabledFields),
  default: (pod) => withOneAddress(mapMember(pod, 'spec', (spec) => defaultPodOnly(defaultPodSpec(spec)))),
  prepareForCreate: (pod, context) => {
    const conditions = gatedCondition(pod, context.now);
    const qosClass = qosClassOf(pod.spec);
    return {
      ...withAppArmorFields(withLabelKeys(pod), context),
      status: { phase: 'Pending' as const, ...(conditions.length > 0 ? { conditions } : {}), qosClass },
    };
  },
  validate: (pod) => {
    const { spec } = pod;
    const errors = validateWholePod(pod);
    if (spec.ephemeralContainers?.length)
      errors.push(forbidden('spec.ephemeralContainers', 'cannot be set on create'));
    if (spec.nodeName && spec.schedulingGates?.length) {
      errors.push(forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'));
    }
    return errors;
  },
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
    ephemeralcontainers: {
      prepareForUpdate: prepareEphemeralContainers,
      validateUpdate: validateEphemeralContainersUpdate,
    },
  },
  warnings: (pod, old) => (isTold(pod, old) ? podWarnings(pod) : []),
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
  rowConditions: podRowConditions,
});
