import type { NodeTotal } from '../framework/framework';

/** How a Pod's last attempt went, for `/debug/scheduler/attempts/NAMESPACE/NAME`. */
export interface Attempt {
  pod: string;
  attempt: number;
  at: string;
  result: 'scheduled' | 'unschedulable' | 'error';
  node?: string;
  message?: string;
  evaluatedNodes: number;
  feasibleNodes: number;
  refusals: { node: string; plugin: string; reasons: readonly string[] }[];
  scores: NodeTotal[];
}

const maxPods = 200;
const maxNodes = 200;

/** Remembers the last attempts of the Pods that were tried last. */
export class Attempts {
  private readonly byPod = new Map<string, Attempt>();

  record(attempt: Attempt): void {
    this.byPod.delete(attempt.pod);
    this.byPod.set(attempt.pod, {
      ...attempt,
      refusals: attempt.refusals.slice(0, maxNodes),
      scores: attempt.scores.slice(0, maxNodes),
    });
    const [oldest] = this.byPod.keys();
    if (this.byPod.size > maxPods && oldest !== undefined) this.byPod.delete(oldest);
  }

  /** `pod`: `namespace/name`. */
  get(pod: string): Attempt | undefined {
    return this.byPod.get(pod);
  }

  keys(): string[] {
    return [...this.byPod.keys()];
  }
}
