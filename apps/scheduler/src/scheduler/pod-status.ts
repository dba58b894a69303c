import { Pods, type Pod } from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';
import { formatTime, type Clock } from '@tinkernetes/component-base';

export interface StatusChange {
  reason: string;
  message: string;
  /** '' clears it, undefined leaves it. */
  nominatedNode: string | undefined;
}

/** Says on the Pod why it has no node; writes nothing when that is there already. */
export async function patchUnscheduled(
  client: Client,
  clock: Clock,
  { pod, reason, message, nominatedNode, signal }: StatusChange & { pod: Pod; signal: AbortSignal },
): Promise<void> {
  const { name, namespace } = pod.metadata;
  const known = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  const isKnown = known?.status === 'False' && known.reason === reason && known.message === message;
  const isNominated = nominatedNode === undefined || nominatedNode === (pod.status?.nominatedNodeName ?? '');
  if (isKnown && isNominated) return;
  const lastTransitionTime =
    known?.status === 'False' && known.lastTransitionTime
      ? known.lastTransitionTime
      : formatTime(clock.now());
  const condition = {
    type: 'PodScheduled',
    status: 'False',
    reason,
    message,
    lastProbeTime: null,
    lastTransitionTime,
    observedGeneration: pod.metadata.generation,
  };
  const status = {
    ...(isKnown ? {} : { conditions: [condition] }),
    ...(isNominated ? {} : { nominatedNodeName: nominatedNode || null }),
  };
  await client
    .for(Pods)
    .patch(
      name,
      { metadata: { uid: pod.metadata.uid }, status },
      { type: 'strategic', subresource: 'status', namespace, signal },
    );
}
