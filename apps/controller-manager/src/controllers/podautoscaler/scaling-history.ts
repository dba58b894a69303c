import type { HPAScalingRules } from '@tinkernetes/api';

interface Recommendation {
  at: number;
  replicas: number;
}
interface ScaleEvent {
  at: number;
  /** Positive, whichever the direction. */
  change: number;
}

/** What one autoscaler has recommended and done lately; kept in memory, as upstream does. */
export class ScalingHistory {
  private recommendations: Recommendation[] = [];
  private ups: ScaleEvent[] = [];
  private downs: ScaleEvent[] = [];

  /** The size that an autoscaler found holds as if it had been recommended. */
  begin(replicas: number, now: number): void {
    if (this.recommendations.length === 0) this.recommendations.push({ at: now, replicas });
  }

  recommend(replicas: number, now: number, keepMs: number): void {
    this.recommendations = this.recommendations.filter(({ at }) => at >= now - keepMs);
    this.recommendations.push({ at: now, replicas });
  }

  /** All recommendations since then, itself included. */
  recommendedSince(time: number): number[] {
    return this.recommendations.filter(({ at }) => at >= time).map(({ replicas }) => replicas);
  }

  scaled(
    from: number,
    to: number,
    { now, rules }: { now: number; rules: HPAScalingRules | undefined },
  ): void {
    const keep = now - longestPeriodMs(rules);
    const event = { at: now, change: Math.abs(to - from) };
    if (to > from) this.ups = [...this.ups.filter(({ at }) => at >= keep), event];
    else this.downs = [...this.downs.filter(({ at }) => at >= keep), event];
  }

  /** How many replicas there were at the start of a period, going by what has been done since. */
  replicasAtStartOf(periodSeconds: number, currentReplicas: number, now: number): number {
    const since = now - periodSeconds * 1000;
    const changes = (events: readonly ScaleEvent[]) =>
      events.filter(({ at }) => at > since).reduce((sum, { change }) => sum + change, 0);
    return currentReplicas - changes(this.ups) + changes(this.downs);
  }
}

const longestPeriodMs = (rules: HPAScalingRules | undefined): number =>
  Math.max(0, ...(rules?.policies ?? []).map(({ periodSeconds }) => periodSeconds)) * 1000;
