import { StorageUnusableError } from '../types';
import { bytes, text, WatchRecording } from './collect';
import type { ContractContext } from './contract';

export function snapshotContract({ rule }: ContractContext): void {
  rule('restores a snapshot into an empty store with all revisions', async ({ storage, another }) => {
    const a = await storage.create('/a', bytes('1'), { trace: 't' });
    await storage.update('/a', bytes('2'), a.modRevision);
    await storage.create('/b', Uint8Array.of(0, 10, 255));
    const gone = await storage.create('/gone', bytes('1'));
    await storage.delete('/gone', gone.modRevision);
    const chunks = await collect(storage.snapshot());
    await storage.create('/later', bytes('1'));

    const copy = await another();
    await copy.restore(replay(chunks));
    const original = await storage.range('', { revision: gone.modRevision + 1 });
    const restored = await copy.range('');
    expect(restored.revision).toBe(gone.modRevision + 1);
    expect(restored.items.map(plain)).toEqual(original.items.map(plain));
    const watch = new WatchRecording(copy, '/', restored.revision);
    const next = await copy.create('/c', bytes('1'));
    expect(next.modRevision).toBe(restored.revision + 1);
    await watch.reached(next.modRevision);
    expect(watch.events.map(({ key }) => key)).toEqual(['/c']);
    await watch.stop();
    await expect(copy.restore(replay(chunks))).rejects.toBeInstanceOf(StorageUnusableError);
  });

  rule('refuses a snapshot that is damaged, cut short or something else', async ({ storage, another }) => {
    await storage.create('/a', bytes('value'));
    const whole = Buffer.concat(await collect(storage.snapshot()));
    const damaged = Buffer.from(whole);
    const at = damaged.indexOf('value');
    damaged[at] = 0x56;
    for (const bad of [damaged, whole.subarray(0, whole.length - 20), bytes('{"a":1}\n'), bytes('')]) {
      const copy = await another();
      await expect(copy.restore(replay([bad]))).rejects.toBeInstanceOf(StorageUnusableError);
      expect((await copy.range('')).items).toEqual([]);
    }
  });
}

const plain = (item: { value: Uint8Array }) => ({ ...item, value: text(item as never) });

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return all;
}

async function* replay(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void> {
  yield* chunks;
}
