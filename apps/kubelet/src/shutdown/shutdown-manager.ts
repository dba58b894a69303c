import type { Pod } from '@tinkernetes/api';
import type { Clock, Logger } from '@tinkernetes/component-base';
import { uidOf } from '../pods/pod-facts';
import type { PodVerdict } from '../pods/pod-status';
import type { KillRequest } from '../pods/pod-workers';
import { groupByPriority, type ShutdownPeriod } from './shutdown-periods';

export interface ShutdownManagerDeps {
  clock: Clock;
  logger: Logger;
  periods: readonly ShutdownPeriod[];
  signal: AbortSignal;
  /** Pods that have not ended. */
  activePods(): readonly Pod[];
  kill(pod: Pod, request: KillRequest): void;
  /** Nothing of the Pod runs any more. */
  hasEnded(uid: string): boolean;
  /** The node is not ready from now on. */
  onStart(): void;
}

const message = 'Pod was terminated in response to imminent node shutdown.';
const refusal: PodVerdict = {
  reason: 'NodeShutdown',
  message: 'Pod was rejected as the node is shutting down.',
};
const terminated: PodVerdict = {
  reason: 'Terminated',
  message,
  conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet', message }],
};

/**
 * Ends the Pods of a node whose machine goes off: those of low priority first, critical ones last, each group within its
 * period. Source: pkg/kubelet/nodeshutdown/nodeshutdown_manager.go.
 */
export class ShutdownManager {
  private isShuttingDown = false;
  private noticeEnd: () => void = () => undefined;

  constructor(private readonly deps: ShutdownManagerDeps) {}

  /** Why the node is not ready; undefined while it is not going down. */
  get notReady(): string | undefined {
    return this.isShuttingDown ? 'node is shutting down' : undefined;
  }

  get refusal(): PodVerdict | undefined {
    return this.isShuttingDown ? refusal : undefined;
  }

  /** To be called whenever a Pod has ended. */
  ended(): void {
    this.noticeEnd();
  }

  /** Resolves when all Pods have ended or their time is over. Once only. */
  async shutDown(): Promise<void> {
    const { activePods, logger, onStart, periods } = this.deps;
    if (this.isShuttingDown) return;
    this.isShuttingDown = true;
    logger.info({ pods: activePods().length }, 'the node is shutting down: ending its pods');
    onStart();
    for (const { period, pods } of groupByPriority(periods, activePods(), (p) => p.spec.priority ?? 0)) {
      logger.info({ priority: period.priority, seconds: period.seconds, pods: pods.length }, 'ending pods');
      for (const pod of pods) this.end(pod, period.seconds);
      await this.untilEnded(pods, period.seconds);
    }
    logger.info({}, 'all pods have ended or their time is over: the machine may go off');
  }

  private end(pod: Pod, seconds: number): void {
    const own = pod.spec.terminationGracePeriodSeconds ?? 30;
    this.deps.kill(pod, { verdict: terminated, gracePeriodSeconds: Math.min(seconds, own) });
  }

  private async untilEnded(pods: readonly Pod[], seconds: number): Promise<void> {
    const { clock, hasEnded, signal } = this.deps;
    const over = new AbortController();
    const abort = () => over.abort(new Error('the kubelet is stopping'));
    signal.addEventListener('abort', abort, { once: true });
    over.signal.addEventListener('abort', () => this.noticeEnd(), { once: true });
    const timer = clock.setTimeout(() => over.abort(new Error('the period is over')), seconds * 1000);
    try {
      while (!over.signal.aborted && pods.some((pod) => !hasEnded(uidOf(pod)))) {
        await new Promise<void>((resolve) => (this.noticeEnd = resolve));
      }
    } finally {
      timer.cancel();
      signal.removeEventListener('abort', abort);
    }
  }
}
