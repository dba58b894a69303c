import type { Pod } from '@tinkernetes/api';
import { isPodTerminal } from '@tinkernetes/apimachinery';

/** Upstream looks at all claims again at this pace, and repeats what it says about those that wait. */
export const recheckMs = 15_000;

/** What a claim waits for whose volume is chosen with a Pod's node. Source: persistentvolume emitEventForUnboundDelayBindingClaim. */
export function waitingFor(pods: readonly Pod[]): { reason: string; message: string } {
  const names = pods
    .filter((pod) => !pod.spec.nodeName && !isPodTerminal(pod))
    .map(({ metadata }) => metadata.name);
  if (names.length === 0)
    return {
      reason: 'WaitForFirstConsumer',
      message: 'waiting for first consumer to be created before binding',
    };
  const subject = names.length === 1 ? 'pod' : 'pods';
  return {
    reason: 'WaitForPodScheduled',
    message: `waiting for ${subject} ${names.join(',')} to be scheduled`,
  };
}
