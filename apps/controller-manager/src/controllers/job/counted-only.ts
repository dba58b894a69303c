import type { Pod } from '@tinkernetes/api';
import { isPodTerminal } from '@tinkernetes/apimachinery';

/**
 * Whether an update of a Pod changes the Job's counters only: it says neither that the Pod has ended nor that it is
 * going, nor that its containers were restarted (which counts for backoffLimit).
 */
export const isCountedOnly = (before: Pod, pod: Pod): boolean =>
  !isPodTerminal(pod) && !pod.metadata.deletionTimestamp && restartsOf(before) === restartsOf(pod);

const restartsOf = ({ status }: Pod): number =>
  [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].reduce(
    (sum, container) => sum + container.restartCount,
    0,
  );
