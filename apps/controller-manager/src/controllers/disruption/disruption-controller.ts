import {
  Deployments,
  PodDisruptionBudgets,
  Pods,
  ReplicaSets,
  ReplicationControllers,
  StatefulSets,
  type Pod,
  type PodDisruptionBudget,
  type PodDisruptionBudgetStatus,
} from '@tinkernetes/api';
import { ignoreNotFound, keyOf, selectorOf, setCondition } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import type { ReconcileResult, Reconciler } from '@tinkernetes/controller';
import type { Lister } from '@tinkernetes/informers';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { sameStatus } from '../shared/same-status';
import { watchObjects } from '../shared/watch-objects';
import { budgetStatus, countsControllers, notDeleted, untilTimeout } from './budget';
import { goSelector } from './go-selector';
import { ScaleFinder, UnscaledPodError, type Scalable } from './scales';
import { startStaleDisruptions } from './stale-disruption';

/**
 * Tells how many Pods of each budget may be evicted. Watches PodDisruptionBudgets, Pods and their controllers; writes
 * the budgets' status. Source: k8s.io/kubernetes/pkg/controller/disruption.
 */
export function startDisruptionController(context: ControllerContext): RunnableController {
  const { client, clock, informers, recorder } = context;
  const queue = context.queues.create('disruption');
  const budgets = informers.for(PodDisruptionBudgets);
  const pods = informers.for(Pods);
  const replicaSets = informers.for(ReplicaSets);
  const scalables: Readonly<Record<string, Lister<Scalable>>> = {
    Deployment: informers.for(Deployments).lister,
    ReplicaSet: replicaSets.lister,
    ReplicationController: informers.for(ReplicationControllers).lister,
    StatefulSet: informers.for(StatefulSets).lister,
  };
  watchObjects(budgets, (key) => queue.add(key));
  const onPod = (pod: Pod) => {
    for (const budget of budgets.lister.list(pod.metadata.namespace))
      if (selects(budget, pod)) queue.add(keyOf(budget));
  };
  pods.addEventHandler({ added: onPod, updated: (_, pod) => onPod(pod), deleted: onPod });

  const scales = new ScaleFinder({ client, clock, scalables });

  const reconciler: Reconciler = {
    name: 'disruption-controller',
    async reconcile(key, { signal }): Promise<ReconcileResult | void> {
      const budget = budgets.lister.getByKey(key);
      if (!budget) return;
      const members = pods.lister.list(budget.metadata.namespace).filter((pod) => selects(budget, pod));
      if (members.length === 0) recorder.event(budget, 'Normal', 'NoPods', 'No matching pods found');
      const now = clock.now();
      let status: PodDisruptionBudgetStatus;
      try {
        const expectedByControllers = await expectedOf(budget, members, signal);
        for (const pod of notDeleted({ budget, pods: members, now }))
          // Upstream prints the namespace twice.
          recorder.event(
            pod,
            'Warning',
            'NotDeleted',
            `Pod was expected by PDB ${budget.metadata.namespace}/${budget.metadata.namespace} to be deleted but it wasn't`,
          );
        status = budgetStatus({ budget, pods: members, expectedByControllers, now });
      } catch (error) {
        if (!(error instanceof UnscaledPodError)) throw error;
        recorder.event(
          budget,
          'Warning',
          'CalculateExpectedPodCountFailed',
          `Failed to calculate the number of expected pods: ${error.message}`,
        );
        status = failSafe(budget, error.message, now);
      }
      if (!sameStatus(budget.status, status)) await write(budget, status, signal);
      const wait = untilTimeout(status, now);
      return wait === undefined ? undefined : { requeueAfterMs: wait };
    },
  };

  /** Pods without a controller can't be counted by percentages; the others are. */
  async function expectedOf(
    budget: PodDisruptionBudget,
    members: readonly Pod[],
    signal: AbortSignal,
  ): Promise<number> {
    if (!countsControllers(budget)) return 0;
    const { expected, unmanaged } = await scales.expectedOf(members, signal);
    if (unmanaged.length > 0)
      recorder.event(
        budget,
        'Warning',
        'UnmanagedPods',
        `Pods selected by this PodDisruptionBudget (selector: ${goSelector(budget.spec.selector)}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.`,
      );
    return expected;
  }

  async function write(
    budget: PodDisruptionBudget,
    status: PodDisruptionBudgetStatus,
    signal: AbortSignal,
  ): Promise<void> {
    await client
      .for(PodDisruptionBudgets)
      .updateStatus({ ...budget, status }, { namespace: budget.metadata.namespace, signal })
      .catch(ignoreNotFound);
  }
  const budgetsController = queueController({ context, queue, reconciler, concurrency: 1 });
  const staleDisruptions = startStaleDisruptions(context);
  return {
    async run() {
      await Promise.all([budgetsController.run(), staleDisruptions.run()]);
    },
  };
}

/** An empty selector selects all Pods of the namespace, none at all selects nothing (policy/v1). */
const selects = (budget: PodDisruptionBudget, pod: Pod): boolean =>
  selectorOf(budget.spec.selector).matches(pod.metadata.labels);

/** What can't be counted allows no disruption. */
const failSafe = (budget: PodDisruptionBudget, message: string, now: number): PodDisruptionBudgetStatus => ({
  ...budget.status,
  disruptionsAllowed: 0,
  observedGeneration: budget.metadata.generation,
  conditions: setCondition(budget.status?.conditions, {
    type: 'DisruptionAllowed',
    status: 'False' as const,
    reason: 'SyncFailed',
    message,
    observedGeneration: budget.metadata.generation,
    lastTransitionTime: formatTime(now),
  }),
});
