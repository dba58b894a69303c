import {
  isCrossed,
  meaningOf,
  signals,
  type Observation,
  type PressureCondition,
  type Signal,
  type Threshold,
} from './thresholds';

/** What one look at the node says. */
export interface ThresholdVerdict {
  /** Conditions that the node has. */
  conditions: ReadonlySet<PressureCondition>;
  /** To be acted on now, most urgent first, hard ones before soft ones of the same signal. */
  due: readonly Threshold[];
}

/**
 * Remembers since when thresholds have been crossed. A condition shows at once and stays for the transition period;
 * a soft threshold is due after its grace period; one that was due stays so until the minimum has been reclaimed.
 * Source: pkg/kubelet/eviction/eviction_manager.go synchronize.
 */
export class ThresholdTracker {
  private readonly crossedSince = new Map<Threshold, number>();
  private readonly conditionSeen = new Map<PressureCondition, number>();
  private unresolved: readonly Threshold[] = [];

  constructor(
    private readonly thresholds: readonly Threshold[],
    private readonly transitionMs: number,
  ) {}

  get conditions(): ReadonlySet<PressureCondition> {
    return new Set(this.conditionSeen.keys());
  }

  /** `now`: monotonic milliseconds. */
  update(observations: ReadonlyMap<Signal, Observation>, now: number): ThresholdVerdict {
    const crossed = this.thresholds.filter((threshold) =>
      isCrossed(threshold, observations, { withReclaim: this.unresolved.includes(threshold) }),
    );
    for (const known of this.crossedSince.keys()) {
      if (!crossed.includes(known)) this.crossedSince.delete(known);
    }
    for (const threshold of crossed) {
      if (!this.crossedSince.has(threshold)) this.crossedSince.set(threshold, now);
      this.conditionSeen.set(meaningOf[threshold.signal].condition, now);
    }
    for (const [condition, at] of this.conditionSeen) {
      if (at !== now && now - at >= this.transitionMs) this.conditionSeen.delete(condition);
    }
    const due = crossed.filter((t) => now - (this.crossedSince.get(t) ?? now) >= t.gracePeriodMs);
    this.unresolved = due;
    due.sort(
      (a, b) => signals.indexOf(a.signal) - signals.indexOf(b.signal) || a.gracePeriodMs - b.gracePeriodMs,
    );
    return { conditions: this.conditions, due };
  }
}
