import type { ScoreTable } from '../framework/framework';
import type { Status } from '../framework/status';

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

/** An attempt as it is remembered; what is shown is put together when somebody asks. */
export interface RecordedAttempt extends Omit<Attempt, 'refusals' | 'scores'> {
  statuses: ReadonlyMap<string, Status> | undefined;
  scores: ScoreTable | undefined;
}

/** Remembers the last attempts of the Pods that were tried last. */
export class Attempts {
  private readonly byPod = new Map<string, RecordedAttempt>();

  record(attempt: RecordedAttempt): void {
    this.byPod.delete(attempt.pod);
    this.byPod.set(attempt.pod, {
      ...attempt,
      statuses: attempt.statuses && firstOf(attempt.statuses),
      scores: attempt.scores && firstRows(attempt.scores),
    });
    const [oldest] = this.byPod.keys();
    if (this.byPod.size > maxPods && oldest !== undefined) this.byPod.delete(oldest);
  }

  /** `pod`: `namespace/name`. */
  get(pod: string): Attempt | undefined {
    const recorded = this.byPod.get(pod);
    if (!recorded) return undefined;
    const { statuses, scores, ...attempt } = recorded;
    const refusals = [...(statuses ?? [])].map(([node, { plugin = '', reasons }]) => ({
      node,
      plugin,
      reasons,
    }));
    return { ...attempt, refusals, scores: scores ? explainScores(scores) : [] };
  }

  keys(): string[] {
    return [...this.byPod.keys()];
  }
}

/** A cycle's own map is let go when it is small enough to be kept as it is. */
function firstOf(statuses: ReadonlyMap<string, Status>): ReadonlyMap<string, Status> {
  return statuses.size <= maxNodes ? statuses : new Map([...statuses].slice(0, maxNodes));
}

const firstRows = ({ nodes, totals, plugins }: ScoreTable): ScoreTable => ({
  nodes: nodes.slice(0, maxNodes),
  totals: totals.slice(0, maxNodes),
  plugins: plugins.map((entry) => ({
    ...entry,
    raw: entry.raw.slice(0, maxNodes),
    normalized: entry.normalized.slice(0, maxNodes),
  })),
});

/** Each node with the scores of every plugin. */
const explainScores = ({ nodes, totals, plugins }: ScoreTable): Attempt['scores'] =>
  nodes.map((node, i) => ({
    node,
    total: totals[i] ?? 0,
    plugins: Object.fromEntries(
      plugins.map(({ plugin, weight, raw, normalized }) => [
        plugin,
        { raw: raw[i] ?? 0, normalized: normalized[i] ?? 0, weight },
      ]),
    ),
  }));
