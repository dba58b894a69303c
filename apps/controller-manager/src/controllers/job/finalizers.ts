import { Pods, type Pod } from '@tinkernetes/api';
import { isInvalid, isNotFound } from '@tinkernetes/apimachinery';
import type { Client } from '@tinkernetes/client';
import { trackingFinalizer } from './pods';

/** Lets a Pod go whose outcome has been written down, or whose Job is gone. */
export async function releasePod(client: Client, pod: Pod): Promise<void> {
  const { name, namespace, uid } = pod.metadata;
  const patch = { metadata: { uid, '$deleteFromPrimitiveList/finalizers': [trackingFinalizer] } };
  await client
    .for(Pods)
    .patch(name, patch, { type: 'strategic', namespace, trace: client.traceOf(pod) })
    .catch((error: unknown) => {
      // Gone, or another Pod of that name: nothing to let go.
      if (!isNotFound(error) && !isInvalid(error)) throw error;
    });
}
