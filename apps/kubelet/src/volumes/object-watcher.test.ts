import type { ConfigMap, Pod } from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';
import { VirtualClock } from '@tinkernetes/component-base/testing';
import type { SharedWatches } from '../node/shared-watches';
import { ObjectWatcher } from './object-watcher';

/** Watches whose first list is there when the test says so. */
class Watches {
  readonly open = new Set<string>();
  private readonly waiting: Array<() => void> = [];
  isSynced = true;

  readonly shared = {
    join: (_client: Client, _descriptor: object, { fieldSelector = '' }) => {
      this.open.add(fieldSelector);
      const configMap: ConfigMap = { metadata: { name: 'c', namespace: 'default' }, data: { a: 'b' } };
      return {
        informer: {
          addEventHandler: () => () => undefined,
          waitForSync: () =>
            this.isSynced
              ? Promise.resolve()
              : new Promise<void>((resolve) => void this.waiting.push(resolve)),
          lister: { get: () => configMap },
        },
        leave: () => void this.open.delete(fieldSelector),
      };
    },
  } as unknown as SharedWatches;

  sync(): void {
    for (const resolve of this.waiting) resolve();
  }
}

const pod = (uid: string, ...configMaps: string[]): Pod => ({
  metadata: { name: uid, namespace: 'default', uid },
  spec: {
    containers: [
      { name: 'main', image: 'x', envFrom: configMaps.map((name) => ({ configMapRef: { name } })) },
    ],
  },
});

describe('ObjectWatcher', () => {
  let watches: Watches;
  let objects: ObjectWatcher;
  beforeEach(() => {
    watches = new Watches();
    objects = new ObjectWatcher({
      client: {} as Client,
      watches: watches.shared,
      clock: new VirtualClock(),
      signal: new AbortController().signal,
      onChange: () => undefined,
    });
  });
  const open = () => [...watches.open].map((selector) => selector.replace('metadata.name=', ''));

  it('watches what a Pod refers to until the last that does has gone', () => {
    objects.register(pod('p', 'a', 'b'));
    objects.register(pod('q', 'b'));
    expect(open()).toEqual(['a', 'b']);
    objects.unregister('p');
    expect(open()).toEqual(['b']);
    objects.unregister('q');
    expect(open()).toEqual([]);
  });

  it('stops what a Pod no longer refers to', () => {
    objects.register(pod('p', 'a', 'b'));
    objects.register(pod('p', 'b', 'c'));
    expect(open()).toEqual(['b', 'c']);
  });

  it('keeps no watch for what is read after the Pod has gone', async () => {
    await expect(objects.configMap('default', 'c')).resolves.toMatchObject({ data: { a: 'b' } });
    expect(open()).toEqual([]);
  });

  it('goes on with a read whose Pod goes meanwhile, and ends the watch after it', async () => {
    watches.isSynced = false;
    objects.register(pod('p', 'c'));
    const reads = Promise.all([objects.configMap('default', 'c'), objects.configMap('default', 'c')]);
    objects.unregister('p');
    expect(open()).toEqual(['c']);
    watches.sync();
    await reads;
    expect(open()).toEqual([]);
  });
});
