/** A Pod's last attempt as the scheduler tells it at `/debug/scheduler/attempts/NAMESPACE/NAME`. */
export interface ExplainedAttempt {
  pod: string;
  attempt: number;
  at: string;
  result: 'scheduled' | 'unschedulable' | 'error';
  node?: string;
  message?: string;
  evaluatedNodes: number;
  feasibleNodes: number;
  refusals: { node: string; plugin: string; reasons: readonly string[] }[];
  scores: {
    node: string;
    total: number;
    plugins: Record<string, { raw: number; normalized: number; weight: number }>;
  }[];
}

/** The attempt for a reader: what came of it, who refused which node and why, and how the others scored. */
export function attemptText(attempt: ExplainedAttempt): string {
  const { refusals, scores } = attempt;
  const parts = [headline(attempt)];
  if (refusals.length > 0)
    parts.push(
      table(
        ['NODE', 'REFUSED BY', 'REASON'],
        refusals.map(({ node, plugin, reasons }) => [node, plugin, reasons.join(', ')]),
      ),
    );
  if (scores.length > 0) parts.push(scoreTable(attempt));
  else if (attempt.result === 'scheduled') parts.push('No scores: there was only one node to choose from.');
  return `${parts.join('\n\n')}\n`;
}

function headline({ pod, attempt, at, result, node, message, ...counts }: ExplainedAttempt): string {
  const outcome = result === 'scheduled' ? `placed on ${node ?? ''}` : result;
  const lines = [
    `${pod}: ${outcome} (attempt ${attempt} at ${at}; ${counts.feasibleNodes} of ${counts.evaluatedNodes} nodes that were looked at fit)`,
  ];
  if (message !== undefined) lines.push(message);
  return lines.join('\n');
}

/** Best node first; within a node, what weighs most first. */
function scoreTable({ scores }: ExplainedAttempt): string {
  const rows = [...scores]
    .sort((a, b) => b.total - a.total)
    .flatMap(({ node, total, plugins }) => [
      ...Object.entries(plugins)
        .map(([plugin, { raw, normalized, weight }]) => ({ plugin, raw, normalized, weight }))
        .sort((a, b) => b.normalized * b.weight - a.normalized * a.weight)
        .map(({ plugin, raw, normalized, weight }) => [
          node,
          plugin,
          shown(raw),
          shown(normalized),
          String(weight),
          shown(normalized * weight),
        ]),
      [node, 'TOTAL', '', '', '', shown(total)],
    ]);
  return table(['NODE', 'SCORED BY', 'RAW', 'NORMALIZED', 'WEIGHT', 'WEIGHTED'], rows);
}

const shown = (score: number): string => String(Math.round(score * 100) / 100);

function table(head: string[], rows: string[][]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('   ')
        .trimEnd(),
    )
    .join('\n');
}
