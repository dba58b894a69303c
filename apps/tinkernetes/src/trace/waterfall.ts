import type { FinishedStep, StepId } from '@tinkernetes/component-base';
import { steps } from './steps';

const barWidth = 40;

export interface WaterfallOptions {
  /** `deployment/web` */
  title: string;
  /** Show each occurrence of a step (every Pod's), not only the first. */
  all?: boolean;
}

/**
 * The steps of one trace as a numbered waterfall, in the order of the list; times are milliseconds since the first
 * span. A step that no component recorded is shown as missing.
 */
export function waterfall(spans: readonly FinishedStep[], { title, all = false }: WaterfallOptions): string {
  const byId = groupById(spans);
  const start = Math.min(...spans.map((s) => s.startMs));
  const end = Math.max(...spans.map((s) => s.endMs));
  const lines = steps.flatMap(([id, meaning], index) => {
    const number = String(index + 1).padStart(2);
    const found = byId.get(id) ?? [];
    const [first] = found;
    if (!first) return [`${number}  ${id.padEnd(32)} ${'missing'.padEnd(barWidth + 22)} ${meaning}`];
    return (all ? found : [first]).map((span) =>
      line(number, span, { start, end, meaning, count: all ? 1 : found.length }),
    );
  });
  const recorded = steps.filter(([id]) => byId.has(id)).length;
  const traceId = spans[0]?.traceId ?? '';
  return [
    `${title}: ${recorded} of ${steps.length} steps, ${spans.length} spans, ${Math.round(end - start)} ms, trace ${traceId}`,
    ...lines,
    '',
  ].join('\n');
}

function groupById(spans: readonly FinishedStep[]): ReadonlyMap<StepId, FinishedStep[]> {
  const byId = new Map<StepId, FinishedStep[]>();
  for (const span of [...spans].sort((a, b) => a.startMs - b.startMs)) {
    byId.set(span.id, [...(byId.get(span.id) ?? []), span]);
  }
  return byId;
}

interface Frame {
  start: number;
  end: number;
  meaning: string;
  count: number;
}

function line(number: string, span: FinishedStep, { start, end, meaning, count }: Frame): string {
  const scale = barWidth / Math.max(1, end - start);
  const from = Math.min(barWidth - 1, Math.floor((span.startMs - start) * scale));
  const length = Math.max(1, Math.round((span.endMs - span.startMs) * scale));
  const bar = `${' '.repeat(from)}${'█'.repeat(Math.min(length, barWidth - from))}`.padEnd(barWidth);
  const at = `${(span.startMs - start).toFixed(0)} ms`.padStart(9);
  // Clocks of two processes differ by fractions of a millisecond: a step may seem to end before it began.
  const took = `+${Math.max(0, span.endMs - span.startMs).toFixed(1)} ms`.padStart(11);
  const where = span.node ? `${span.component} on ${span.node}` : span.component;
  const decided = Object.entries(span.attributes).map(([key, value]) => `${key}=${value}`);
  const notes = [
    where,
    ...(count > 1 ? [`×${count}`] : []),
    ...decided,
    ...(span.error ? [`error: ${span.error}`] : []),
  ];
  return `${number}  ${span.id.padEnd(32)} ${bar} ${at} ${took} ${meaning} (${notes.join(', ')})`;
}
