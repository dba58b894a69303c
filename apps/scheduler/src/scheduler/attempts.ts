import type { ScoreTable } from '../framework/framework';

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
  scores: { node: string; total: number; plugins: Record<string, PluginScore> }[];
}
export interface PluginScore {
  raw: number;
  normalized: number;
  weight: number;
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

/** The first nodes of a table, each with the scores of every plugin. */
export function explainScores(table: ScoreTable | undefined): Attempt['scores'] {
  if (!table) return [];
  return table.nodes.slice(0, maxNodes).map((node, i) => ({
    node,
    total: table.totals[i] ?? 0,
    plugins: Object.fromEntries(
      table.plugins.map(({ plugin, weight, raw, normalized }) => [
        plugin,
        { raw: raw[i] ?? 0, normalized: normalized[i] ?? 0, weight },
      ]),
    ),
  }));
}
