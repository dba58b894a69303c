import type { Pod } from '@tinkernetes/api';
import { isNotFound } from '@tinkernetes/apimachinery';
import type { EventRecorder } from '@tinkernetes/controller';
import { podKey, uidOf } from '../cache/pod-info';
import { fitMessage } from '../framework/fit-error';
import type { Framework } from '../framework/framework';
import { isRejected, messageOf, type Status } from '../framework/status';
import type { Diagnosis } from '../framework/types';
import type { Cycle, Failure } from './cycle';
import type { Placement } from './find-node';
import { patchUnscheduled } from './pod-status';
import type { SchedulerDeps } from './scheduler';

export type OutcomeDeps = Pick<
  SchedulerDeps,
  | 'attempts'
  | 'cache'
  | 'client'
  | 'clock'
  | 'logger'
  | 'metrics'
  | 'nominator'
  | 'pods'
  | 'queue'
  | 'recorders'
  | 'signal'
> & {
  /** How many Pods are being bound. */
  bindings(): number;
};

/** What becomes known of an attempt: in the log, in metrics, in events and in the Pod. */
export class CycleOutcome {
  constructor(private readonly deps: OutcomeDeps) {}

  /** Says that the Pod has its node. */
  bound(cycle: Cycle, node: string): void {
    const { clock, metrics, logger } = this.deps;
    const { queued, pod, framework } = cycle;
    logger.info({ object: `Pod/${podKey(pod)}`, node }, 'Successfully bound pod to node');
    this.observe(cycle, 'scheduled');
    metrics.podAttempts.observe(queued.attempts);
    metrics.podDuration.observe((clock.now() - queued.initialAttemptAt) / 1000, {
      attempts: queued.attempts >= 15 ? '15+' : String(queued.attempts),
    });
    const message = `Successfully assigned ${podKey(pod)} to ${node}`;
    this.recorder(framework).event(withKind(pod), 'Normal', 'Scheduled', message);
  }

  /** Puts the Pod back into the queue, and says on it and in an event why it has no node. */
  fail(cycle: Cycle, { status, diagnosis, nominatedNode }: Failure): void {
    const { queue, pods, logger, signal } = this.deps;
    const { queued, pod, framework } = cycle;
    const isError = !isRejected(status);
    const nodeCount = Math.max(1, this.deps.cache.nodeCount);
    const message = diagnosis
      ? fitMessage(status.plugin === undefined ? nodeCount : 1, diagnosis)
      : messageOf(status);
    this.observe(cycle, isError ? 'error' : 'unschedulable');
    this.explain(cycle, { diagnosis, message, result: isError ? 'error' : 'unschedulable' });
    const latest = pods.get(pod.metadata.name, pod.metadata.namespace);
    if (signal.aborted || !latest || uidOf(latest) !== uidOf(pod) || latest.spec?.nodeName) {
      queue.done(pod);
      return;
    }
    const log = { object: `Pod/${podKey(pod)}`, attempts: queued.attempts };
    if (isError) logger.error(log, `Error scheduling pod; retrying: ${message}`);
    else logger.info(log, `Unable to schedule pod; no fit; waiting: ${message}`);
    queued.pod = latest;
    queued.erred = isError;
    queued.unschedulablePlugins = diagnosis?.unschedulablePlugins ?? pluginOf(status);
    queued.pendingPlugins = diagnosis?.pendingPlugins ?? new Set();
    if (nominatedNode) this.deps.nominator.nominate(latest, nominatedNode);
    else if (nominatedNode === '') this.deps.nominator.clear(latest);
    queue.addUnschedulable(queued);
    this.recorder(framework).event(withKind(pod), 'Warning', 'FailedScheduling', message);
    void this.report(latest, {
      reason: isError ? 'SchedulerError' : 'Unschedulable',
      message,
      nominatedNode,
    });
  }

  private async report(
    pod: Pod,
    change: { reason: string; message: string; nominatedNode: string | undefined },
  ): Promise<void> {
    const { client, clock, signal, logger } = this.deps;
    try {
      await patchUnscheduled(client, clock, { pod, signal, ...change });
    } catch (error) {
      if (signal.aborted || isNotFound(error)) return;
      logger.warn(
        { err: error, object: `Pod/${podKey(pod)}` },
        'Error updating the status of an unschedulable pod',
      );
    }
  }

  /** Records the attempt for those who ask later. */
  explain(
    { queued, pod }: Cycle,
    {
      placement,
      diagnosis = placement?.diagnosis,
      message,
      result = 'scheduled',
    }: {
      placement?: Extract<Placement, { kind: 'found' }>;
      diagnosis?: Diagnosis;
      message?: string;
      result?: 'scheduled' | 'unschedulable' | 'error';
    },
  ): void {
    this.deps.attempts.record({
      pod: podKey(pod),
      attempt: queued.attempts,
      at: new Date(this.deps.clock.now()).toISOString(),
      result,
      node: placement?.node,
      message,
      evaluatedNodes: placement?.evaluated ?? diagnosis?.statuses.size ?? 0,
      feasibleNodes: placement?.feasible ?? 0,
      statuses: diagnosis?.statuses,
      scores: placement?.scores,
    });
  }

  private observe({ framework, startedAt }: Cycle, result: string): void {
    const { metrics, clock, queue, cache } = this.deps;
    const labels = { result, profile: framework.profile };
    metrics.attempts.inc(labels);
    metrics.attemptDuration.observe((clock.monotonic() - startedAt) / 1000, labels);
    metrics.showPending(queue);
    metrics.cacheSize.set(cache.nodeCount, { type: 'nodes' });
    metrics.cacheSize.set(cache.podCount, { type: 'pods' });
    metrics.cacheSize.set(this.deps.bindings(), { type: 'assumed_pods' });
  }

  private recorder({ profile }: Framework): EventRecorder {
    const recorder = this.deps.recorders.get(profile);
    if (!recorder) throw new Error(`no event recorder for profile ${profile}`);
    return recorder;
  }
}

const pluginOf = ({ plugin }: Status): Set<string> => new Set(plugin === undefined ? [] : [plugin]);
const withKind = (pod: Pod): Pod => ({ ...pod, apiVersion: 'v1', kind: 'Pod' });
