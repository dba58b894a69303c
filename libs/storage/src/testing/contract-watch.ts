import { bytes, describeEvent, WatchRecording } from './collect';
import type { ContractContext } from './contract';

export function watchContract({ rule }: ContractContext): void {
  rule('watches changes under a prefix with what was there before', async ({ storage }) => {
    const start = await storage.currentRevision();
    const watch = new WatchRecording(storage, '/k/', start);
    const a1 = await storage.create('/k/a', bytes('1'), { trace: 't' });
    await storage.create('/other', bytes('x'));
    const a2 = await storage.update('/k/a', bytes('2'), a1.modRevision);
    const { revision } = await storage.delete('/k/a', a2.modRevision);
    await watch.reached(revision);
    expect(watch.events.map(describeEvent)).toEqual([
      `PUT /k/a=1@${a1.modRevision}`,
      `PUT /k/a=2@${a2.modRevision} was 1@${a1.modRevision}`,
      `DELETE /k/a@${revision} was 2@${a2.modRevision}`,
    ]);
    expect(watch.events[0]?.current).toMatchObject({ version: 1, trace: 't' });
    expect(watch.events[2]?.current.value).toHaveLength(0);
    await watch.stop();
  });

  rule('tells watchers of other keys how far all is delivered', async ({ storage }) => {
    const watch = new WatchRecording(storage, '/k/', await storage.currentRevision());
    const { modRevision } = await storage.create('/other', bytes('x'));
    await watch.reached(modRevision);
    expect(watch.events).toEqual([]);
    await watch.stop();
  });

  rule('joins history and live changes without gap or duplicate', async ({ storage }) => {
    const start = await storage.currentRevision();
    const total = 1_500;
    for (let i = 0; i < total / 2; i += 50)
      await Promise.all(Array.from({ length: 50 }, (_, j) => storage.create(`/k/${i + j}`, bytes('1'))));
    const watches = [0, 1, 300, 700].map((skip) => ({
      skip,
      watch: new WatchRecording(storage, '/k/', start + skip),
    }));
    for (let i = total / 2; i < total; i += 50)
      await Promise.all(Array.from({ length: 50 }, (_, j) => storage.create(`/k/${i + j}`, bytes('1'))));
    const late = { skip: total - 10, watch: new WatchRecording(storage, '/k/', start + total - 10) };
    for (const { skip, watch } of [...watches, late]) {
      await watch.reached(start + total);
      expect(watch.events.map(({ revision }) => revision)).toEqual(
        Array.from({ length: total - skip }, (_, i) => start + skip + 1 + i),
      );
      await watch.stop();
    }
  });

  rule('waits for revisions to come when a watch starts in the future', async ({ storage }) => {
    const start = await storage.currentRevision();
    const watch = new WatchRecording(storage, '/k/', start + 1);
    await storage.create('/k/a', bytes('1'));
    const { modRevision } = await storage.create('/k/b', bytes('1'));
    await watch.reached(modRevision);
    expect(watch.events.map(({ key }) => key)).toEqual(['/k/b']);
    await watch.stop();
  });

  rule('ends a watch when it is aborted and when the store is closed', async ({ another }) => {
    const store = await another();
    const afterRevision = await store.currentRevision();
    const aborted = new WatchRecording(store, '/', afterRevision);
    const open = new WatchRecording(store, '/', afterRevision);
    await aborted.stop();
    await store.close();
    await open.ended;
    await expect(store.get('/a')).rejects.toThrow('closed');
    const signal = AbortSignal.abort();
    for await (const batch of (await another()).watch('/', { afterRevision, signal })) {
      throw new Error(`delivered ${batch.kind} after abort`);
    }
  });
}
