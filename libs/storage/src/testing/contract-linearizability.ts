import { SeededRandom } from '@tinkernetes/component-base/testing';
import { GuardFailedError, type Storage } from '../types';
import { bytes, text } from './collect';
import type { ContractContext } from './contract';

/** One call of a recorded history; `started` and `ended` count the starts and ends of all calls. */
interface Call {
  started: number;
  ended: number;
  key: string;
  outcome:
    | { kind: 'wrote'; revision: number; value: string | undefined }
    | { kind: 'read'; revision: number; value: string | undefined }
    | { kind: 'refused'; value: string | undefined };
}

const keys = ['/lin/a', '/lin/b', '/lin/c'];
const clients = 8;
const callsEach = 40;
/** Histories; each with calls of its own. `npm run test:long` takes more. */
const rounds = Number(process.env.LINEARIZABILITY_ROUNDS ?? 1);
/** A limit for what hangs, and no measure of speed. */
const historyTimeoutMs = 180_000;

/**
 * Revisions claim to be the one order of everything. Then they must agree with real time (what ended before another
 * began comes first) and every answer with the state at its revision.
 */
export function linearizabilityContract({ rule }: ContractContext): void {
  rule(
    'shows all clients one order of reads and guarded writes that agrees with real time',
    async ({ another }) => {
      for (let round = 0; round < rounds; round++) {
        const storage = await another();
        const first = await storage.currentRevision();
        const history = await record(storage, round);
        const writes = history.filter(isWrite).sort((a, b) => a.outcome.revision - b.outcome.revision);
        expect(new Set(writes.map(({ outcome }) => outcome.revision)).size).toBe(writes.length);
        for (const call of history) check(call, writes, first);
        await storage.close();
      }
    },
    historyTimeoutMs * rounds,
  );
}

type WriteCall = Call & { outcome: { kind: 'wrote' } };
const isWrite = (call: Call): call is WriteCall => call.outcome.kind === 'wrote';

async function record(storage: Storage, round: number): Promise<Call[]> {
  const history: Call[] = [];
  let tick = 0;
  const client = async (id: number) => {
    const random = new SeededRandom(round * clients + id + 1);
    const known = new Map<string, number>();
    for (let n = 0; n < callsEach; n++) {
      const key = keys[Math.floor(random.next() * keys.length)] ?? '';
      const started = tick++;
      const outcome = await call(storage, { key, value: `${id}.${n}`, known, choice: random.next() });
      history.push({ started, ended: tick++, key, outcome });
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, id) => client(id)));
  return history;
}

/** A read half of the time; otherwise a write guarded by what this client saw last. */
async function call(
  storage: Storage,
  { key, value, known, choice }: { key: string; value: string; known: Map<string, number>; choice: number },
): Promise<Call['outcome']> {
  const seen = known.get(key) ?? 0;
  try {
    if (choice < 0.5) {
      const { revision, item } = await storage.get(key);
      known.set(key, item?.modRevision ?? 0);
      return { kind: 'read', revision, value: text(item) };
    }
    if (seen > 0 && choice < 0.6) {
      const { revision } = await storage.delete(key, seen);
      known.set(key, 0);
      return { kind: 'wrote', revision, value: undefined };
    }
    const written = await (seen > 0
      ? storage.update(key, bytes(value), seen)
      : storage.create(key, bytes(value)));
    known.set(key, written.modRevision);
    return { kind: 'wrote', revision: written.modRevision, value };
  } catch (error) {
    if (!(error instanceof GuardFailedError)) throw error;
    known.set(key, error.current?.modRevision ?? 0);
    return { kind: 'refused', value: text(error.current) };
  }
}

/** Revisions between which the call must have taken effect, by the writes that were over, or had not begun. */
function window(
  { started, ended }: Call,
  writes: readonly WriteCall[],
  first: number,
): { from: number; to: number } {
  const before = writes.filter((write) => write.ended < started).map(({ outcome }) => outcome.revision);
  const after = writes.filter((write) => write.started > ended).map(({ outcome }) => outcome.revision);
  return {
    from: Math.max(first, ...before),
    to: Math.min(Infinity, ...after.map((revision) => revision - 1)),
  };
}

function valueAt(key: string, revision: number, writes: readonly WriteCall[]): string | undefined {
  return writes.filter((write) => write.key === key && write.outcome.revision <= revision).at(-1)?.outcome
    .value;
}

function check(call: Call, writes: readonly WriteCall[], first: number): void {
  const { from, to } = window(call, writes, first);
  const { outcome, key } = call;
  if (outcome.kind === 'refused') {
    const inside = writes
      .map((write) => write.outcome.revision)
      .filter((revision) => revision > from && revision <= to);
    const possible = [from, ...inside].map((revision) => valueAt(key, revision, writes) ?? 'nothing');
    expect(possible).toContain(outcome.value ?? 'nothing');
    return;
  }
  expect(outcome.revision).toBeGreaterThanOrEqual(from);
  expect(outcome.revision).toBeLessThanOrEqual(to);
  expect(outcome.value).toBe(valueAt(key, outcome.revision, writes));
}
