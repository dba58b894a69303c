import fc from 'fast-check';
import { GuardFailedError, type Storage } from '../types';
import { bytes, WatchRecording } from './collect';
import type { ContractContext } from './contract';
import { asModel, ReferenceModel, show, showEvent, type ModelVersion } from './reference-model';

type WriteStep = { op: 'create' | 'update' | 'delete'; key: string; value: string; stale: boolean };
type Step =
  | { op: 'writes'; writes: WriteStep[] }
  | { op: 'get'; key: string; back: number }
  | { op: 'range'; prefix: string; back: number; limit: number; startAfter?: string }
  | { op: 'compact'; back: number };

const keys = ['/a', '/a/1', '/a/2', '/b/1', '/b/12', '/c'];
const key = fc.constantFrom(...keys);
const prefix = fc.constantFrom('', '/', '/a', '/a/', '/b/', '/b/1', '/d');
const back = fc.oneof(fc.constant(0), fc.nat({ max: 12 }));
const write: fc.Arbitrary<WriteStep> = fc.record({
  op: fc.constantFrom('create', 'update', 'update', 'delete'),
  key,
  value: fc.string({ maxLength: 4 }),
  stale: fc.boolean(),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constant('writes' as const),
      writes: fc.array(write, { minLength: 1, maxLength: 1 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant('writes' as const),
      writes: fc.array(write, { minLength: 2, maxLength: 8 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('get' as const), key, back }) },
  {
    weight: 2,
    arbitrary: fc.record(
      { op: fc.constant('range' as const), prefix, back, limit: fc.nat({ max: 4 }), startAfter: key },
      { requiredKeys: ['op', 'prefix', 'back', 'limit'] },
    ),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('compact' as const), back }) },
);

/** Random histories, run against the store and against the obvious implementation. */
export function modelContract({ rule, modelRuns }: ContractContext): void {
  rule(
    'behaves as the reference model over random histories with concurrent guarded writes',
    async ({ another }) => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
          const storage = await another();
          try {
            await new ModelRun(storage, new ReferenceModel(await storage.currentRevision())).run(steps);
          } finally {
            await storage.close();
          }
        }),
        { numRuns: modelRuns },
      );
    },
  );
}

class ModelRun {
  private compacted: number;
  private readonly watch: WatchRecording;

  constructor(
    private readonly storage: Storage,
    private readonly model: ReferenceModel,
  ) {
    this.compacted = 0;
    this.watch = new WatchRecording(storage, '', model.revision);
  }

  async run(steps: readonly Step[]): Promise<void> {
    for (const one of steps) await this.step(one);
    await this.watch.reached(this.model.revision);
    expect(this.watch.events.map(showEvent)).toEqual(this.model.events);
    await this.watch.stop();
    const from = Math.max(this.compacted, this.model.firstRevision);
    const replayed = await new WatchRecording(this.storage, '', from).reached(this.model.revision);
    expect(replayed.events.map(showEvent)).toEqual(this.model.events.slice(from - this.model.firstRevision));
    await replayed.stop();
  }

  private async step(one: Step): Promise<void> {
    switch (one.op) {
      case 'writes':
        return this.writes(one.writes);
      case 'get': {
        const revision = this.readable(one.back);
        const { item } = await this.storage.get(one.key, { revision });
        expect(show(asModel(item))).toBe(show(this.model.at(revision ?? this.model.revision).get(one.key)));
        return;
      }
      case 'range': {
        const revision = this.readable(one.back);
        const { prefix: under, limit, startAfter } = one;
        const result = await this.storage.range(under, { revision, limit, startAfter });
        const all = this.model
          .range(under, revision ?? this.model.revision)
          .filter((item) => startAfter === undefined || item.key > startAfter);
        expect(result.count).toBe(all.length);
        expect(result.items.map((item) => show(asModel(item)))).toEqual(
          (limit ? all.slice(0, limit) : all).map(show),
        );
        return;
      }
      case 'compact': {
        const revision = this.model.revision - one.back;
        if (revision <= this.compacted || revision <= this.model.firstRevision) return;
        await this.watch.reached(this.model.revision);
        await this.storage.compact(revision);
        this.compacted = revision;
        return;
      }
    }
  }

  /** A revision that may be read; undefined: now. */
  private readable(backwards: number): number | undefined {
    if (backwards === 0) return undefined;
    return Math.max(this.model.revision - backwards, this.model.firstRevision, this.compacted);
  }

  /** Runs the writes at once; whatever order the store chose must explain every outcome. */
  private async writes(writes: readonly WriteStep[]): Promise<void> {
    const before = this.model.revision;
    const attempts = writes.map((one) => {
      const known = this.model.current(one.key)?.modRevision ?? 0;
      return { ...one, expected: one.stale ? Math.max(1, known - 1) : known };
    });
    const outcomes = await Promise.all(
      attempts.map((one) =>
        this.attempt(one).then(
          (revision) => ({ ...one, revision }),
          (error: unknown) => ({ ...one, error }),
        ),
      ),
    );
    const done = outcomes.flatMap((outcome) => ('revision' in outcome ? [outcome] : []));
    for (const { op, key: at, value, expected, revision } of done.sort((a, b) => a.revision - b.revision)) {
      expect(revision).toBe(this.model.revision + 1);
      expect(this.model.current(at)?.modRevision ?? 0).toBe(op === 'create' ? 0 : expected);
      if (op === 'delete') this.model.delete(at);
      else this.model.put(at, value);
    }
    for (const outcome of outcomes) if ('error' in outcome) this.checkRefusal(outcome, before);
  }

  private async attempt({ op, key: at, value, expected }: WriteStep & { expected: number }): Promise<number> {
    if (op === 'create') return (await this.storage.create(at, bytes(value))).modRevision;
    if (op === 'update') return (await this.storage.update(at, bytes(value), expected)).modRevision;
    return (await this.storage.delete(at, expected)).revision;
  }

  /** A refusal must name a version that was current at some moment of the step and that the guard excludes. */
  private checkRefusal(outcome: WriteStep & { expected: number; error: unknown }, before: number): void {
    if (!(outcome.error instanceof GuardFailedError)) throw outcome.error;
    const found = asModel(outcome.error.current);
    const guard = outcome.op === 'create' ? 0 : outcome.expected;
    // Update and delete with guard 0 are refused whatever is there.
    if (!(guard === 0 && outcome.op !== 'create')) expect(found?.modRevision ?? 0).not.toBe(guard);
    const possible: (ModelVersion | undefined)[] = [];
    for (let revision = before; revision <= this.model.revision; revision++)
      possible.push(this.model.at(revision).get(outcome.key));
    expect(possible.map(show)).toContain(show(found));
  }
}
