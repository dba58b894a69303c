import { GuardFailedError } from '../types';
import { bytes, text } from './collect';
import type { ContractContext } from './contract';

/** The guard failure of a call that must fail. */
export async function refused(call: Promise<unknown>): Promise<GuardFailedError> {
  const error = await call.then(
    () => new Error('the call succeeded'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(GuardFailedError);
  return error as GuardFailedError;
}

export function writeContract({ rule }: ContractContext): void {
  rule('starts at a revision above 0 with nothing in it', async ({ storage }) => {
    const { revision, items, count } = await storage.range('');
    expect(revision).toBeGreaterThan(0);
    expect({ items, count }).toEqual({ items: [], count: 0 });
    expect(await storage.get('/a')).toEqual({ revision, item: undefined });
  });

  rule('creates a key once', async ({ storage }) => {
    const start = await storage.currentRevision();
    const made = await storage.create('/a', bytes('1'), { trace: '00-aa-bb-01' });
    expect(made).toMatchObject({
      key: '/a',
      createRevision: start + 1,
      modRevision: start + 1,
      version: 1,
      trace: '00-aa-bb-01',
    });
    const { key, current } = await refused(storage.create('/a', bytes('2')));
    expect([key, text(current), current?.modRevision]).toEqual(['/a', '1', start + 1]);
    expect(await storage.currentRevision()).toBe(start + 1);
  });

  rule('updates only the version that the guard names', async ({ storage }) => {
    const made = await storage.create('/a', bytes('1'), { trace: 't1' });
    const updated = await storage.update('/a', bytes('2'), made.modRevision);
    expect(updated).toMatchObject({
      createRevision: made.createRevision,
      modRevision: made.modRevision + 1,
      version: 2,
    });
    expect(updated.trace).toBeUndefined();
    const stale = await refused(storage.update('/a', bytes('3'), made.modRevision));
    expect(text(stale.current)).toBe('2');
    expect((await refused(storage.update('/absent', bytes('3'), made.modRevision))).current).toBeUndefined();
    expect((await refused(storage.update('/absent', bytes('3'), 0))).current).toBeUndefined();
    expect(text((await refused(storage.update('/a', bytes('3'), 0))).current)).toBe('2');
    expect(await storage.currentRevision()).toBe(updated.modRevision);
  });

  rule('deletes only the version that the guard names, and begins anew afterwards', async ({ storage }) => {
    const made = await storage.create('/a', bytes('1'));
    expect(text((await refused(storage.delete('/a', made.modRevision + 1))).current)).toBe('1');
    expect(text((await refused(storage.delete('/a', 0))).current)).toBe('1');
    const { revision, previous } = await storage.delete('/a', made.modRevision);
    expect([revision, text(previous)]).toEqual([made.modRevision + 1, '1']);
    expect((await storage.get('/a')).item).toBeUndefined();
    expect((await refused(storage.delete('/a', made.modRevision))).current).toBeUndefined();
    const again = await storage.create('/a', bytes('2'));
    expect(again).toMatchObject({ createRevision: revision + 1, modRevision: revision + 1, version: 1 });
  });

  rule('keeps any bytes, none and a megabyte included', async ({ storage }) => {
    const large = Uint8Array.from({ length: 1_200_000 }, (_, i) => (i * 31) & 0xff);
    const all = Uint8Array.from({ length: 256 }, (_, i) => i);
    for (const [key, value] of [
      ['/large', large],
      ['/all', all],
      ['/none', new Uint8Array()],
    ] as const) {
      await storage.create(key, value);
      const { item } = await storage.get(key);
      expect(Buffer.compare(Buffer.from(item?.value ?? []), Buffer.from(value))).toBe(0);
    }
  });

  rule('sees an acknowledged write in every later read', async ({ storage }) => {
    for (let i = 0; i < 50; i++) {
      const { modRevision } = await storage.create(`/k/${String(i).padStart(2, '0')}`, bytes(String(i)));
      expect(await storage.currentRevision()).toBe(modRevision);
      expect((await storage.range('/k/')).count).toBe(i + 1);
    }
  });

  rule('ranges in key order over exactly the prefix, with limit, count and start', async ({ storage }) => {
    for (const key of ['/b/2', '/a/1', '/b/10', '/b', '/bb/1', '/b/1', '/c/1'])
      await storage.create(key, bytes(key));
    const keys = async (prefix: string, options = {}) => {
      const { items, count } = await storage.range(prefix, options);
      return [items.map((item) => item.key).join(' '), count];
    };
    expect(await keys('/b/')).toEqual(['/b/1 /b/10 /b/2', 3]);
    expect(await keys('/b/', { limit: 2 })).toEqual(['/b/1 /b/10', 3]);
    expect(await keys('/b/', { startAfter: '/b/1' })).toEqual(['/b/10 /b/2', 2]);
    expect(await keys('/b/', { startAfter: '/b/1', limit: 1 })).toEqual(['/b/10', 2]);
    expect(await keys('/b/', { startAfter: '/b/2' })).toEqual(['', 0]);
    expect(await keys('/b/', { countOnly: true })).toEqual(['', 3]);
    expect(await keys('/d/')).toEqual(['', 0]);
    expect((await keys(''))[1]).toBe(7);
  });

  rule('deletes a key when its time to live has passed, with an event', async ({ storage, clock }) => {
    await storage.create('/forever', bytes('1'));
    const made = await storage.create('/short', bytes('1'), { ttlSeconds: 10 });
    const kept = await storage.create('/kept', bytes('1'), { ttlSeconds: 10 });
    await storage.update('/kept', bytes('2'), kept.modRevision);
    await clock.advance(9_000);
    expect(text((await storage.get('/short')).item)).toBe('1');
    const controller = new AbortController();
    const watch = storage.watch('/', {
      afterRevision: await storage.currentRevision(),
      signal: controller.signal,
    });
    const next = watch[Symbol.asyncIterator]().next();
    await clock.advance(1_500);
    expect((await next).value).toMatchObject({
      events: [{ type: 'DELETE', key: '/short', previous: { modRevision: made.modRevision } }],
    });
    controller.abort();
    await clock.advance(60_000);
    expect((await storage.range('/')).items.map((item) => item.key)).toEqual(['/forever', '/kept']);
  });
}
