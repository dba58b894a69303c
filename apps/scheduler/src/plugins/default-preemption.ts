import { PodDisruptionBudgets, Pods, type Pod } from '@tinkernetes/api';
import { isNotFound } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import type { NodeInfo } from '../cache/node-info';
import { podInfoOf, podKey, uidOf } from '../cache/pod-info';
import type { CycleState } from '../framework/cycle-state';
import { fitMessage } from '../framework/fit-error';
import { unresolvable, unschedulable, type Status } from '../framework/status';
import type { Diagnosis, Handle, PluginFactory, PostFilterResult } from '../framework/types';
import { pickCandidate, selectVictims, type Candidate } from './preemption-victims';

const name = 'DefaultPreemption';

interface Args {
  minCandidateNodesPercentage?: number;
  minCandidateNodesAbsolute?: number;
}

/** Makes room for a Pod that fits nowhere by evicting less important ones. */
export const defaultPreemption: PluginFactory = {
  name,
  create(args, handle) {
    const budgets = handle.informers.for(PodDisruptionBudgets).lister;
    /** Pods whose victims are just being evicted: trying them again before would evict more. */
    const preempting = new Set<string>();
    const { minCandidateNodesPercentage = 10, minCandidateNodesAbsolute = 100 } = args as Args;
    const enough = (nodes: number) =>
      Math.min(
        nodes,
        Math.max(minCandidateNodesAbsolute, Math.trunc((nodes * minCandidateNodesPercentage) / 100)),
      );

    const findCandidates = (state: CycleState, pod: Pod, diagnosis: Diagnosis) => {
      const nodes = candidateNodes(handle, diagnosis);
      const offset = Math.floor(handle.random.next() * nodes.length);
      const candidates: Candidate[] = [];
      const statuses = new Map<string, Status>();
      for (let i = 0; i < nodes.length && candidates.length < enough(nodes.length); i++) {
        const node = nodes[(offset + i) % nodes.length];
        if (!node) continue;
        const found = selectVictims({ pod, state, node, budgets: budgets.list() }, handle);
        if ('code' in found) statuses.set(node.name, found);
        else candidates.push(found);
      }
      return { candidates, statuses };
    };

    const evictInBackground = (pod: Pod, candidate: Candidate) => {
      preempting.add(uidOf(pod));
      const done = evict(handle, pod, candidate).catch((error: unknown) => {
        if (!handle.signal.aborted)
          handle.logger.error(
            { err: error, object: `Pod/${podKey(pod)}` },
            'Error occurred during preemption',
          );
      });
      void done.finally(() => {
        preempting.delete(uidOf(pod));
        handle.activateHeldBack(pod, name);
      });
    };

    return {
      name,
      // Held back by PreEnqueue only, and let go by `activateHeldBack`.
      events: [],
      preEnqueue: (pod) =>
        preempting.has(uidOf(pod))
          ? unresolvable('waiting for the preemption for this pod to be finished')
          : undefined,
      async postFilter(state, pod, diagnosis): Promise<PostFilterResult> {
        const ineligible = whyIneligible(handle, pod, diagnosis);
        if (ineligible) return { status: unschedulable(`preemption: ${ineligible}`) };
        const { candidates, statuses } = findCandidates(state, pod, diagnosis);
        const agreed = await handle.extenders.preempt(
          pod,
          candidates,
          (node) => handle.snapshot().get(node)?.pods ?? [],
        );
        const best = pickCandidate(agreed);
        if (!best)
          return { status: unschedulable(`preemption: ${notHelpful(handle, statuses)}`), nominatedNode: '' };
        handle.logger.info(
          { object: `Pod/${podKey(pod)}`, node: best.node, victims: best.victims.length },
          'preempting',
        );
        for (const { pod: other, priority } of handle.nominator.nominatedPods(best.node))
          if (priority < podInfoOf(pod).priority) handle.nominator.clear(other);
        handle.preempting(best.victims.length);
        evictInBackground(pod, best);
        return { status: undefined, nominatedNode: best.node };
      },
    };
  },
};

/** Nodes that refused the Pod for a reason that fewer Pods there might cure. */
function candidateNodes(handle: Handle, { statuses, absentStatus }: Diagnosis): NodeInfo[] {
  return handle
    .snapshot()
    .nodes.filter((node) => (statuses.get(node.name) ?? absentStatus).code === 'Unschedulable');
}

function notHelpful(handle: Handle, statuses: Map<string, Status>): string {
  return fitMessage(handle.snapshot().nodes.length, {
    statuses,
    absentStatus: unresolvable('Preemption is not helpful for scheduling'),
    unschedulablePlugins: new Set(),
    pendingPlugins: new Set(),
  });
}

/** Undefined: the Pod may preempt. */
function whyIneligible(handle: Handle, pod: Pod, { statuses }: Diagnosis): string | undefined {
  if (pod.spec?.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.';
  const nominated = pod.status?.nominatedNodeName ?? '';
  if (nominated === '' || statuses.get(nominated)?.code === 'UnschedulableAndUnresolvable') return undefined;
  const isMakingRoom = handle
    .snapshot()
    .get(nominated)
    ?.pods.some((other) => other.pod.metadata.deletionTimestamp && other.priority < podInfoOf(pod).priority);
  return isMakingRoom ? 'not eligible due to a terminating pod on the nominated node.' : undefined;
}

async function evict(handle: Handle, pod: Pod, { node, victims }: Candidate): Promise<void> {
  await Promise.all(
    victims.map(async ({ pod: victim }) => {
      const rejected = handle.rejectWaitingPod(uidOf(victim), 'preempted');
      if (!rejected) await deleteVictim(handle, pod, victim);
      const message = `Preempted by pod ${uidOf(pod)} on node ${node}`;
      handle.recorder.event({ ...victim, apiVersion: 'v1', kind: 'Pod' }, 'Normal', 'Preempted', message);
    }),
  );
}

async function deleteVictim({ client, clock, signal }: Handle, pod: Pod, victim: Pod): Promise<void> {
  const { name: victimName, namespace, uid } = victim.metadata;
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'PreemptionByScheduler',
    message: `${pod.spec?.schedulerName ?? ''}: preempting to accommodate a higher priority pod`,
    lastTransitionTime: formatTime(clock.now()),
  };
  const pods = client.for(Pods);
  try {
    const status = { conditions: [condition] };
    await pods.patch(
      victimName,
      { metadata: { uid }, status },
      { type: 'strategic', subresource: 'status', namespace, signal },
    );
    await pods.delete(victimName, { namespace, preconditions: { uid }, signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
