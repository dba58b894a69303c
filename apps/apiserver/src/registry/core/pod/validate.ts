import type { Pod } from '@tinkernetes/api';
import { validatePodAnnotations } from '../../pod-spec/annotations';
import { validateImageSpaces } from '../../pod-spec/containers';
import { validatePodSpec } from '../../pod-spec/validate';
import type { Errors } from '../../rules';

/** What holds for new Pods and for updated ones. Source: core/validation.validatePodMetadataAndSpec. */
export const validateWholePod = (pod: Pod): Errors => [
  ...validatePodAnnotations(pod, 'metadata.annotations'),
  ...validatePodSpec(pod.spec ?? { containers: [] }, 'spec', pod.metadata.name),
  ...validateImageSpaces(pod.spec?.containers, 'spec.containers'),
  ...validateImageSpaces(pod.spec?.initContainers, 'spec.initContainers'),
];
