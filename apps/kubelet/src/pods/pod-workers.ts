import type { Pod } from '@tinkernetes/api';
import { jitter, type Clock, type Logger, type Random, type Timer } from '@tinkernetes/component-base';
import { isPhaseTerminal, podText, uidOf } from './pod-facts';
import type { PodVerdict } from './pod-status';

/** `finished`: nothing of the Pod is left but its API object. */
export type WorkerState = 'syncing' | 'terminating' | 'terminated' | 'finished';

export interface KillRequest {
  /** The Pod ends as Failed with this; left out where it is being deleted. */
  verdict?: PodVerdict;
  gracePeriodSeconds?: number;
}

export interface SyncOutcome {
  /** All containers have ended for good. */
  terminal?: boolean;
  /** Run again after this time, if nothing else asks earlier. */
  retryAfterMs?: number;
}

/** What a worker does in each state; every function is called for one Pod by one worker at a time. */
export interface PodSyncer {
  /** The signal aborts when the Pod has to end meanwhile. */
  sync(pod: Pod, signal: AbortSignal): Promise<SyncOutcome>;
  /** Ends all containers. Called again with a shorter grace period where one is asked for meanwhile. */
  terminate(pod: Pod, request: KillRequest & { signal: AbortSignal }): Promise<void>;
  /** Releases what the Pod held on the node. */
  cleanUp(pod: Pod, request: KillRequest): Promise<void>;
}

export interface PodWorkersDeps {
  syncer: PodSyncer;
  clock: Clock;
  random: Random;
  logger: Logger;
  /** Every Pod is looked at this often even if nothing happens. */
  syncFrequencyMs: number;
  /** Told when nothing of the Pod is left. */
  onFinished(pod: Pod): void;
}

interface Worker {
  pod: Pod;
  state: WorkerState;
  kill: KillRequest;
  running: boolean;
  dirty: boolean;
  failures: number;
  timer?: Timer;
  /** Of the step that runs. */
  interrupt?: AbortController;
}

const maxErrorDelayMs = 10_000;
const firstErrorDelayMs = 500;

/**
 * One state machine a Pod: syncing → terminating → terminated → finished. A Pod never goes back, and its steps never
 * overlap. Source: pkg/kubelet/pod_workers.go.
 */
export class PodWorkers {
  private readonly workers = new Map<string, Worker>();
  private isStopped = false;
  private readonly active = new Set<Promise<void>>();

  constructor(private readonly deps: PodWorkersDeps) {}

  /** A new or changed Pod; decides by itself whether it has to end. */
  update(pod: Pod): void {
    const worker = this.workerOf(pod);
    worker.pod = pod;
    if (worker.state === 'finished') return;
    if (pod.metadata.deletionTimestamp) {
      this.end(worker, { gracePeriodSeconds: pod.metadata.deletionGracePeriodSeconds ?? 30 });
    } else if (worker.state === 'syncing' && isPhaseTerminal(pod.status?.phase)) {
      this.end(worker, {});
    }
    this.wake(worker);
  }

  /** A newer version of a Pod, in which nothing has changed that asks for a sync. */
  refresh(pod: Pod): void {
    const worker = this.workers.get(uidOf(pod));
    if (worker) worker.pod = pod;
  }

  /** Ends a Pod for a reason of the node's own. */
  kill(pod: Pod, request: KillRequest): void {
    const worker = this.workerOf(pod);
    if (worker.state === 'finished') return;
    worker.pod = pod;
    this.end(worker, request);
    this.wake(worker);
  }

  /** Something happened to the Pod's containers, volumes or probes. */
  wakeUp(uid: string): void {
    const worker = this.workers.get(uid);
    if (worker && worker.state !== 'finished') this.wake(worker);
  }

  state(uid: string): WorkerState | undefined {
    return this.workers.get(uid)?.state;
  }

  /** After the API object is gone. False while the worker still has something to end. */
  forget(uid: string): boolean {
    const worker = this.workers.get(uid);
    if (worker && worker.state !== 'finished') return false;
    this.workers.delete(uid);
    return true;
  }

  get pods(): Pod[] {
    return [...this.workers.values()].map((w) => w.pod);
  }

  stop(): void {
    this.isStopped = true;
    for (const worker of this.workers.values()) {
      worker.timer?.cancel();
      worker.interrupt?.abort(new Error('the kubelet is stopping'));
    }
  }

  /** Resolves when no step runs any more. */
  async stopped(): Promise<void> {
    await Promise.all(this.active);
  }

  private workerOf(pod: Pod): Worker {
    const uid = uidOf(pod);
    const known = this.workers.get(uid);
    if (known) return known;
    const worker: Worker = { pod, state: 'syncing', kill: {}, running: false, dirty: false, failures: 0 };
    this.workers.set(uid, worker);
    return worker;
  }

  private end(worker: Worker, request: KillRequest): void {
    const { kill } = worker;
    // Even a Pod that is deleted by force gets a moment.
    const wanted =
      request.gracePeriodSeconds === undefined ? undefined : Math.max(1, request.gracePeriodSeconds);
    const shorter =
      wanted !== undefined && (kill.gracePeriodSeconds === undefined || wanted < kill.gracePeriodSeconds);
    worker.kill = {
      verdict: kill.verdict ?? request.verdict,
      gracePeriodSeconds: shorter ? wanted : kill.gracePeriodSeconds,
    };
    if (worker.state === 'syncing') {
      worker.state = 'terminating';
      worker.interrupt?.abort(new Error('the pod has to end'));
    } else if (shorter) worker.interrupt?.abort(new Error('a shorter grace period was asked for'));
  }

  private wake(worker: Worker): void {
    worker.dirty = true;
    if (worker.running || this.isStopped) return;
    worker.running = true;
    worker.timer?.cancel();
    const run = this.run(worker).finally(() => this.active.delete(run));
    this.active.add(run);
  }

  private async run(worker: Worker): Promise<void> {
    let delay: number | undefined;
    while (worker.dirty && !this.isStopped && worker.state !== 'finished') {
      worker.dirty = false;
      try {
        delay = await this.step(worker);
        worker.failures = 0;
      } catch (error) {
        if (this.isStopped) break;
        if (worker.interrupt?.signal.aborted) {
          worker.dirty = true;
          continue;
        }
        delay = Math.min(firstErrorDelayMs * 2 ** worker.failures++, maxErrorDelayMs);
        this.deps.logger.warn(
          { pod: podText(worker.pod), state: worker.state, err: error },
          'error syncing pod, trying again',
        );
      }
    }
    worker.running = false;
    if (this.isStopped || worker.state === 'finished') return;
    const { clock, random, syncFrequencyMs } = this.deps;
    const wait = Math.min(delay ?? Infinity, jitter(random, syncFrequencyMs, 0.5));
    worker.timer = clock.setTimeout(() => this.wake(worker), wait, { unref: true });
  }

  private async step(worker: Worker): Promise<number | undefined> {
    const { syncer } = this.deps;
    switch (worker.state) {
      case 'syncing': {
        worker.interrupt = new AbortController();
        const { terminal, retryAfterMs } = await syncer.sync(worker.pod, worker.interrupt.signal);
        if (terminal && this.isSyncing(worker)) {
          worker.state = 'terminating';
          worker.dirty = true;
        }
        return retryAfterMs;
      }
      case 'terminating': {
        worker.interrupt = new AbortController();
        await syncer.terminate(worker.pod, { ...worker.kill, signal: worker.interrupt.signal });
        worker.interrupt = undefined;
        worker.state = 'terminated';
        worker.dirty = true;
        return undefined;
      }
      case 'terminated':
        await syncer.cleanUp(worker.pod, worker.kill);
        worker.state = 'finished';
        this.deps.logger.info({ pod: podText(worker.pod) }, 'pod is finished on this node');
        this.deps.onFinished(worker.pod);
        return undefined;
      case 'finished':
        return undefined;
    }
  }

  /** Asked anew: the state may have changed while a step ran. */
  private isSyncing(worker: Worker): boolean {
    return worker.state === 'syncing';
  }
}
