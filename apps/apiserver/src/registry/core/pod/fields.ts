import type { Pod } from '@tinkernetes/api';

/** What Pods can be selected by. Source: pkg/registry/core/pod.ToSelectableFields. */
export const podFields = ({ spec, status }: Pod): Record<string, string> => ({
  'spec.nodeName': spec?.nodeName ?? '',
  'spec.restartPolicy': spec?.restartPolicy ?? '',
  'spec.schedulerName': spec?.schedulerName ?? '',
  'spec.serviceAccountName': spec?.serviceAccountName ?? '',
  'spec.hostNetwork': String(spec?.hostNetwork ?? false),
  'status.phase': status?.phase ?? '',
  'status.podIP': status?.podIP ?? '',
  'status.nominatedNodeName': status?.nominatedNodeName ?? '',
});

/** `status.podIPs` may be asked for, and is never set. */
export const podFieldNames = [
  ...Object.keys(podFields({ metadata: { name: '' }, spec: { containers: [] } })),
  'status.podIPs',
];
