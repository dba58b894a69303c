import type { Probe } from '@tinkernetes/api';
import type { Clock, Timer } from '@tinkernetes/component-base';
import type { ProbeKind, ProbeOutcome } from './prober';

export interface ProbeWorkerDeps {
  kind: ProbeKind;
  probe: Probe;
  clock: Clock;
  /** Epoch milliseconds at which the container started. */
  startedAt: number;
  run(): Promise<ProbeOutcome>;
  onOutcome?(outcome: ProbeOutcome): void;
  /** Called for each probe that did not succeed, or did with a warning. */
  onTrouble(outcome: ProbeOutcome): void;
  /** Called when the result that counts changes. */
  onResult(result: 'success' | 'failure'): void;
}

/**
 * A program needs a moment after its start until it answers. So that a Pod doesn't wait a whole period for being ready,
 * readiness and startup probes are tried early; only a success of these tries counts. (Upstream triggers extra runs of
 * an unsuccessful readiness probe whenever the Pod's status is looked at.)
 */
const earlyTriesMs = [50, 150, 400, 1000];

/**
 * Probes one container periodically and applies the thresholds. A failed liveness or startup probe ends it: the
 * container is restarted and gets a new worker. Source: pkg/kubelet/prober/worker.go.
 */
export class ProbeWorker {
  private timer: Timer | undefined;
  private stopped = false;
  private last: 'success' | 'failure' | undefined;
  private run = 0;
  private reported: 'success' | 'failure' | undefined;
  private early: number[];

  constructor(private readonly deps: ProbeWorkerDeps) {
    const { probe, clock, startedAt } = deps;
    this.early = deps.kind === 'liveness' ? [] : [...earlyTriesMs];
    const due = startedAt + (probe.initialDelaySeconds ?? 0) * 1000;
    this.schedule(Math.max(0, due - clock.now()));
  }

  stop(): void {
    this.stopped = true;
    this.timer?.cancel();
  }

  private schedule(ms: number): void {
    this.timer = this.deps.clock.setTimeout(() => void this.tick(), ms, { unref: true });
  }

  private async tick(): Promise<void> {
    const { probe, kind, onTrouble } = this.deps;
    let outcome: ProbeOutcome;
    try {
      outcome = await this.deps.run();
    } catch (error) {
      outcome = { result: 'unknown', output: error instanceof Error ? error.message : String(error) };
    }
    if (this.stopped) return;
    this.deps.onOutcome?.(outcome);
    const next = outcome.result === 'success' ? undefined : this.early.shift();
    if (next !== undefined) return this.schedule(next);
    this.early = [];
    if (outcome.result !== 'success' || outcome.warning) onTrouble(outcome);
    if (outcome.result !== 'unknown') this.count(outcome.result);
    const decided = this.reported;
    if (kind === 'startup' && decided !== undefined) return this.stop();
    if (kind === 'liveness' && decided === 'failure') return this.stop();
    this.schedule((probe.periodSeconds ?? 10) * 1000);
  }

  private count(result: 'success' | 'failure'): void {
    const { probe, onResult } = this.deps;
    this.run = result === this.last ? this.run + 1 : 1;
    this.last = result;
    const threshold = result === 'success' ? (probe.successThreshold ?? 1) : (probe.failureThreshold ?? 3);
    if (this.run < threshold || this.reported === result) return;
    this.reported = result;
    onResult(result);
  }
}
