// Where a process's event loop was blocked for longest, by its CPU profile.
import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';

/** Samples are a millisecond apart; one that took longer was interrupted: the machine did something else meanwhile. */
const longestSampleMs = 1.5;

const maps = new Map();
function sourceMapOf(path) {
  if (!maps.has(path)) {
    const map = `${path}.map`;
    maps.set(path, existsSync(map) ? new SourceMap(JSON.parse(readFileSync(map, 'utf8'))) : undefined);
  }
  return maps.get(path);
}

/** `calculateStatus (apps/…/status.ts:16)` */
function nameOf({ functionName, url, lineNumber, columnNumber }) {
  const name = functionName || '(anonymous)';
  const map = url.endsWith('.cjs') ? sourceMapOf(url.replace('file://', '')) : undefined;
  const entry = map?.findEntry(lineNumber, columnNumber);
  if (!entry?.originalSource) return name;
  return `${name} (${entry.originalSource.replace(/^.*\.\.\//, '')}:${entry.originalLine + 1})`;
}

/** What runs beside the program, and is part of no block by itself. */
const isBeside = (name) => ['(idle)', '(program)'].includes(name);

/**
 * The longest stretch between two moments (microseconds of the monotonic clock) in which one entry into the program ran
 * without a pause. `stack`: the calls that took at least half of it, outermost first.
 */
export function longestBlock(file, { from, to }) {
  const { nodes, samples, timeDeltas, startTime } = JSON.parse(readFileSync(file, 'utf8'));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const root = nodes[0].id;
  const pathOf = (id) => {
    const path = [];
    for (let at = id; at !== root && at !== undefined; at = parents.get(at)) path.unshift(at);
    return path;
  };
  let longest = { ms: 0, path: new Map() };
  let block;
  let at = startTime;
  for (const [i, id] of samples.entries()) {
    at += timeDeltas[i];
    if (at < from || at > to) continue;
    const ms = Math.min((timeDeltas[i + 1] ?? 0) / 1000, longestSampleMs);
    const path = pathOf(id);
    const entry = path[0];
    const name = frames.get(id).functionName;
    if (isBeside(name) || entry === undefined) {
      block = undefined;
      continue;
    }
    // A collection interrupts whatever runs.
    if (block?.entry !== entry && !(block && name === '(garbage collector)'))
      block = { entry, ms: 0, total: new Map() };
    block.ms += ms;
    for (const node of path) block.total.set(node, (block.total.get(node) ?? 0) + ms);
    if (block.ms > longest.ms) longest = block;
  }
  const stack = [...(longest.total ?? [])].filter(([, ms]) => ms >= longest.ms / 2).map(([id]) => id);
  return { ms: longest.ms, stack: stack.map((id) => nameOf(frames.get(id))) };
}
