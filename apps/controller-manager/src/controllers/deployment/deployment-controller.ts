import { Deployments, Pods, ReplicaSets, type Deployment, type Pod, type ReplicaSet } from '@tinkernetes/api';
import { controllerOf, findCondition, keyOf, selectorOf } from '@tinkernetes/apimachinery';
import { claimChildren, type ReconcileResult, type Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { watchOwned } from '../shared/owned-objects';
import { childCandidates, controllerUidIndex, indexByControllerUid } from '../shared/owner-index';
import { watchObjects } from '../shared/watch-objects';
import { totalReplicas } from './rolling-update';
import { objectOf, rolloutOf, type Rollout } from './rollout';
import { RolloutWriter } from './rollout-writer';
import {
  calculateStatus,
  hasProgressDeadline,
  isComplete,
  rolloutStatus,
  untilDeadline,
  withCondition,
} from './status';
import { isScalingEvent, recreate, rollingUpdate, scale } from './strategies';

/**
 * Brings a Deployment's ReplicaSets to its template, step by step within maxSurge and maxUnavailable. Watches
 * Deployments, ReplicaSets and Pods; writes ReplicaSets and the Deployment's status.
 * Source: k8s.io/kubernetes/pkg/controller/deployment.
 */
export function startDeploymentController(context: ControllerContext): RunnableController {
  const queue = context.queues.create('deployment');
  const controller = new DeploymentController(context, (key) => queue.add(key));
  return queueController({
    context,
    queue,
    reconciler: controller,
    concurrency: context.flags['concurrent-deployment-syncs'],
  });
}

class DeploymentController implements Reconciler {
  readonly name = 'deployment-controller';
  private readonly deployments;
  private readonly replicaSets;
  private readonly pods;
  private readonly writer: RolloutWriter;

  constructor(
    private readonly context: ControllerContext,
    enqueue: (key: string) => void,
  ) {
    const { informers } = context;
    this.writer = new RolloutWriter(context);
    this.deployments = informers.for(Deployments);
    this.replicaSets = informers.for(ReplicaSets);
    this.pods = informers.for(Pods);
    indexByControllerUid(this.replicaSets);
    indexByControllerUid(this.pods);
    watchObjects(this.deployments, enqueue);
    watchOwned({
      children: this.replicaSets,
      owners: this.deployments,
      enqueue,
      selectorOf: (deployment) => selectorOf(deployment.spec.selector),
    });
    // Recreate waits for the last old Pod: only that Pod's end matters here.
    this.pods.addEventHandler({
      deleted: (pod) => {
        const deployment = this.deploymentOf(pod);
        if (deployment?.spec.strategy?.type === 'Recreate') enqueue(keyOf(deployment));
      },
    });
  }

  async reconcile(key: string, { signal }: { signal: AbortSignal }): Promise<ReconcileResult | void> {
    const deployment = this.deployments.lister.getByKey(key);
    if (!deployment) return;
    const { client, recorder, tracer } = this.context;
    if (selectorOf(deployment.spec.selector).isEverything) {
      const message = 'This deployment is selecting all pods. A non-empty selector is required.';
      recorder.event(deployment, 'Warning', 'SelectingAll', message);
      const { generation } = deployment.metadata;
      if ((deployment.status?.observedGeneration ?? 0) < (generation ?? 0))
        await this.writer.writeStatus(deployment, { ...deployment.status, observedGeneration: generation });
      return;
    }
    const trace = { parent: client.traceOf(deployment), object: objectOf(deployment) };
    await tracer.step('deployment.reconcile', trace, async () => {
      const rollout = rolloutOf(deployment, await this.claim(deployment, signal));
      if (deployment.metadata.deletionTimestamp) {
        await this.writer.syncNext(rollout);
        await this.syncStatus(rollout);
      } else await this.sync(rollout);
    });
    return this.progressCheck(key);
  }

  private async sync(rollout: Rollout): Promise<void> {
    const { deployment } = rollout;
    const updated = await this.checkPausedCondition(rollout);
    if (updated) return;
    if (deployment.spec.paused || isScalingEvent(rollout)) {
      await this.writer.syncNext(rollout);
      await scale(rollout, this.writer);
      if (deployment.spec.paused && totalReplicas(rollout.old) === 0) await this.writer.cleanUp(rollout);
      await this.syncStatus(rollout);
      return;
    }
    if (deployment.spec.strategy?.type === 'Recreate')
      await recreate(rollout, this.writer, (set) => this.podsOf(set));
    else await rollingUpdate(rollout, this.writer);
    const status = rolloutStatus(rollout.deployment, rollout, this.context.clock.now());
    if (isComplete(rollout.deployment, status)) await this.writer.cleanUp(rollout);
    // The revision may have been written meanwhile: the status goes onto that version.
    await this.writer.writeStatus(rollout.deployment, status);
  }

  /** The counts alone, where nothing rolls out. */
  private async syncStatus(rollout: Rollout): Promise<void> {
    const { deployment } = rollout;
    const status = calculateStatus(deployment, rollout, this.context.clock.now());
    await this.writer.writeStatus(deployment, status);
  }

  /** True when the condition had to be written: its own event continues the work. */
  private async checkPausedCondition({ deployment }: Rollout): Promise<boolean> {
    if (!hasProgressDeadline(deployment)) return false;
    const current = findCondition(deployment.status?.conditions, 'Progressing');
    if (current?.reason === 'ProgressDeadlineExceeded') return false;
    const isPaused = current?.reason === 'DeploymentPaused';
    if (Boolean(deployment.spec.paused) === isPaused) return false;
    // A Deployment that was never paused needs no mark of having been resumed.
    const value = deployment.spec.paused
      ? { reason: 'DeploymentPaused', message: 'Deployment is paused' }
      : { reason: 'DeploymentResumed', message: 'Deployment is resumed' };
    const conditions = withCondition(
      deployment.status?.conditions,
      { type: 'Progressing', status: 'Unknown', ...value },
      this.context.clock.now(),
    );
    await this.writer.writeStatus(deployment, { ...deployment.status, conditions });
    return true;
  }

  /** A rollout that makes no progress is looked at again when its deadline passes. */
  private progressCheck(key: string): ReconcileResult | void {
    const deployment = this.deployments.lister.getByKey(key);
    if (!deployment?.status || isComplete(deployment, deployment.status)) return;
    const left = untilDeadline(deployment, deployment.status, this.context.clock.now());
    if (left !== undefined && left > 0) return { requeueAfterMs: left + 1000 };
  }

  private claim(deployment: Deployment, signal: AbortSignal): Promise<ReplicaSet[]> {
    const selector = selectorOf(deployment.spec.selector);
    const { client } = this.context;
    return claimChildren({
      owner: deployment,
      ownerDescriptor: Deployments,
      client: client.for(ReplicaSets),
      candidates: childCandidates(this.replicaSets, deployment),
      matches: (set) => selector.matches(set.metadata.labels),
      freshOwner: () =>
        client.for(Deployments).get(deployment.metadata.name, { namespace: deployment.metadata.namespace }),
      signal,
    });
  }

  private podsOf(set: ReplicaSet): readonly Pod[] {
    return this.pods.lister.byIndex(controllerUidIndex, set.metadata.uid ?? '');
  }

  private deploymentOf(pod: Pod): Deployment | undefined {
    const owner = controllerOf(pod);
    if (owner?.kind !== 'ReplicaSet') return undefined;
    const set = this.replicaSets.lister.get(owner.name, pod.metadata.namespace);
    const parent = set && controllerOf(set);
    return parent ? this.deployments.lister.get(parent.name, pod.metadata.namespace) : undefined;
  }
}
