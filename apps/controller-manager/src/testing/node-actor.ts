import { Pods, type Pod } from '@tinkernetes/api';
import { isNotFound, isConflict } from '@tinkernetes/apimachinery';
import type { Client } from '@tinkernetes/client';
import { realClock, realRandom } from '@tinkernetes/component-base';
import { silentLogger } from '@tinkernetes/component-base/testing';
import { createSharedInformerFactory, type SharedInformer } from '@tinkernetes/informers';

export interface NodeActor {
  readonly pods: SharedInformer<Pod>;
  stop(): Promise<void>;
}

/** Does what scheduler and kubelets would: each Pod is ready at once, and gone at once when it is deleted. */
export async function startNodeActor(client: Client): Promise<NodeActor> {
  const stopping = new AbortController();
  const factory = createSharedInformerFactory({
    client,
    clock: realClock,
    random: realRandom,
    logger: silentLogger,
    signal: stopping.signal,
  });
  const pods = factory.for(Pods);
  const going = new Set<Promise<void>>();
  const act = (pod: Pod) => {
    const work = (pod.metadata.deletionTimestamp ? reap(pod) : makeReady(pod)).catch((error: unknown) => {
      if (!stopping.signal.aborted && !isNotFound(error) && !isConflict(error)) throw error;
    });
    going.add(work);
    void work.finally(() => going.delete(work));
  };
  const reap = async ({ metadata: { name, namespace } }: Pod) => {
    await client.for(Pods).delete(name, { namespace, gracePeriodSeconds: 0 });
  };
  const makeReady = async (pod: Pod) => {
    if (pod.status?.phase === 'Running') return;
    const lastTransitionTime = new Date().toISOString().replace(/\.\d+Z/, 'Z');
    const status = {
      ...pod.status,
      phase: 'Running' as const,
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime }],
    };
    await client.for(Pods).updateStatus({ ...pod, status }, { namespace: pod.metadata.namespace });
  };
  pods.addEventHandler({ added: act, updated: (_, pod) => act(pod) });
  factory.start();
  await factory.waitForSync();
  return {
    pods,
    async stop() {
      stopping.abort(new Error('test is over'));
      await factory.stopped();
      await Promise.allSettled(going);
    },
  };
}
