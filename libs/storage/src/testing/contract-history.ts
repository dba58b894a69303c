import { CompactedError, FutureRevisionError } from '../types';
import { bytes, text, WatchRecording } from './collect';
import type { ContractContext } from './contract';

export function historyContract({ rule }: ContractContext): void {
  rule('reads as of an older revision', async ({ storage }) => {
    const a1 = await storage.create('/k/a', bytes('a1'));
    const b1 = await storage.create('/k/b', bytes('b1'));
    const a2 = await storage.update('/k/a', bytes('a2'), a1.modRevision);
    const { revision: gone } = await storage.delete('/k/b', b1.modRevision);
    const c1 = await storage.create('/k/c', bytes('c1'));
    const at = async (revision: number, options = {}) => {
      const result = await storage.range('/k/', { ...options, revision });
      expect(result.revision).toBe(revision);
      return [result.items.map(text).join(' '), result.count];
    };
    expect(await at(a1.modRevision)).toEqual(['a1', 1]);
    expect(await at(b1.modRevision)).toEqual(['a1 b1', 2]);
    expect(await at(a2.modRevision)).toEqual(['a2 b1', 2]);
    expect(await at(a2.modRevision, { limit: 1 })).toEqual(['a2', 2]);
    expect(await at(a2.modRevision, { startAfter: '/k/a' })).toEqual(['b1', 1]);
    expect(await at(a2.modRevision, { countOnly: true })).toEqual(['', 2]);
    expect(await at(gone)).toEqual(['a2', 1]);
    expect(await at(c1.modRevision)).toEqual(['a2 c1', 2]);
    expect(text((await storage.get('/k/b', { revision: a2.modRevision })).item)).toBe('b1');
    expect((await storage.get('/k/b', { revision: gone })).item).toBeUndefined();
    expect((await storage.get('/k/a', { revision: a1.modRevision })).item).toMatchObject({
      modRevision: a1.modRevision,
      version: 1,
    });
  });

  rule('refuses revisions that are not there yet', async ({ storage }) => {
    const next = (await storage.currentRevision()) + 1;
    await expect(storage.range('/', { revision: next })).rejects.toBeInstanceOf(FutureRevisionError);
    await expect(storage.get('/a', { revision: next })).rejects.toBeInstanceOf(FutureRevisionError);
    await expect(storage.compact(next)).rejects.toBeInstanceOf(FutureRevisionError);
  });

  rule('forgets what is older than a compaction, never what is current', async ({ storage }) => {
    const a1 = await storage.create('/k/a', bytes('a1'));
    const b1 = await storage.create('/k/b', bytes('b1'));
    const a2 = await storage.update('/k/a', bytes('a2'), a1.modRevision);
    await storage.delete('/k/b', b1.modRevision);
    const a3 = await storage.update('/k/a', bytes('a3'), a2.modRevision);
    await storage.compact(a2.modRevision);
    await expect(storage.range('/k/', { revision: a1.modRevision })).rejects.toBeInstanceOf(CompactedError);
    await expect(storage.get('/k/a', { revision: b1.modRevision })).rejects.toBeInstanceOf(CompactedError);
    await expect(storage.compact(a2.modRevision)).rejects.toBeInstanceOf(CompactedError);
    await expect(new WatchRecording(storage, '/k/', b1.modRevision).ended).rejects.toMatchObject({
      compactRevision: a2.modRevision,
    });
    const kept = await storage.range('/k/', { revision: a2.modRevision });
    expect(kept.items.map(text)).toEqual(['a2', 'b1']);
    const watch = await new WatchRecording(storage, '/k/', a2.modRevision).reached(a3.modRevision);
    expect(watch.events.map(({ type, previous }) => [type, text(previous)])).toEqual([
      ['DELETE', 'b1'],
      ['PUT', 'a2'],
    ]);
    await watch.stop();
    await storage.compact(a3.modRevision);
    expect((await storage.range('/k/')).items.map(text)).toEqual(['a3']);
  });
}
