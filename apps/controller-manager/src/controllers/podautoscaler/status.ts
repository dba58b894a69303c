import type {
  HorizontalPodAutoscalerCondition as Condition,
  HorizontalPodAutoscalerStatus,
} from '@tinkernetes/api';

export type ConditionType = 'AbleToScale' | 'ScalingActive' | 'ScalingLimited';

/** Conditions as they were, with those that a run finds out put in. */
export class Conditions {
  private list: Condition[];

  constructor(
    status: HorizontalPodAutoscalerStatus | undefined,
    private readonly now: string,
  ) {
    this.list = [...(status?.conditions ?? [])];
  }

  set(type: ConditionType, status: 'True' | 'False', reason: string, message: string): void {
    const before = this.list.find((condition) => condition.type === type);
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : this.now;
    const next: Condition = { type, status, lastTransitionTime, reason, message };
    this.list = before ? this.list.map((c) => (c === before ? next : c)) : [...this.list, next];
  }

  all(): Condition[] {
    return this.list;
  }
}
