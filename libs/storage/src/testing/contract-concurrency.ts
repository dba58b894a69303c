import { GuardFailedError, type Storage } from '../types';
import { bytes, text, WatchRecording } from './collect';
import type { ContractContext } from './contract';

export function concurrencyContract({ rule }: ContractContext): void {
  rule('lets exactly one of many concurrent creates win', async ({ storage }) => {
    const results = await Promise.allSettled(
      Array.from({ length: 30 }, (_, i) => storage.create('/a', bytes(String(i)))),
    );
    const winners = results.flatMap((result) => (result.status === 'fulfilled' ? [text(result.value)] : []));
    expect(winners).toHaveLength(1);
    for (const result of results) {
      if (result.status === 'fulfilled') continue;
      expect(result.reason).toBeInstanceOf(GuardFailedError);
      expect(text((result.reason as GuardFailedError).current)).toBe(winners[0]);
    }
    expect(text((await storage.get('/a')).item)).toBe(winners[0]);
  });

  rule('loses no increment of a counter under concurrent guarded updates', async ({ storage }) => {
    await storage.create('/n', bytes('0'));
    const start = await storage.currentRevision();
    const watch = new WatchRecording(storage, '/n', start);
    await Promise.all(Array.from({ length: 8 }, () => repeat(15, () => increment(storage, '/n'))));
    const { item, revision } = await storage.get('/n');
    expect(text(item)).toBe('120');
    await watch.reached(revision);
    expect(watch.events.map(({ current }) => text(current))).toEqual(
      Array.from({ length: 120 }, (_, i) => String(i + 1)),
    );
    await watch.stop();
  });

  rule('takes chained writes that do not wait for each other', async ({ storage }) => {
    const made = await storage.create('/a', bytes('1'));
    const results = await Promise.allSettled([
      storage.update('/a', bytes('2'), made.modRevision),
      storage.update('/a', bytes('3'), made.modRevision + 1),
      storage.delete('/a', made.modRevision + 2),
      storage.create('/a', bytes('4')),
    ]);
    expect(results.map(({ status }) => status)).toEqual(results.map(() => 'fulfilled'));
    expect((await storage.get('/a')).item).toMatchObject({ version: 1, modRevision: made.modRevision + 4 });
  });
}

async function repeat(times: number, work: () => Promise<void>): Promise<void> {
  for (let i = 0; i < times; i++) await work();
}

async function increment(storage: Storage, key: string): Promise<void> {
  for (;;) {
    const { item } = await storage.get(key);
    try {
      await storage.update(key, bytes(String(Number(text(item)) + 1)), item?.modRevision ?? 0);
      return;
    } catch (error) {
      if (!(error instanceof GuardFailedError)) throw error;
    }
  }
}
