import { StatusError } from '@tinkernetes/apimachinery';
import { ConfigMaps, type ConfigMap } from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';
import { realClock, realRandom } from '@tinkernetes/component-base';
import { eventually, silentLogger } from '@tinkernetes/component-base/testing';
import { SharedWatches } from './shared-watches';

/** One identity; its watch stays open until it is closed. */
class Identity {
  lists = 0;
  watches = 0;
  private readonly ended = new AbortController();

  readonly client = {
    for: () => ({
      list: () => {
        this.lists++;
        const item: ConfigMap = { metadata: { name: 'c', namespace: 'n', uid: 'u', resourceVersion: '1' } };
        return Promise.resolve({ metadata: { resourceVersion: '1' }, items: [item] });
      },
      watch: (options: { signal?: AbortSignal; sendInitialEvents?: boolean }) => this.watch(options),
    }),
  } as unknown as Client;

  close(): void {
    this.ended.abort(new Error('closed'));
  }

  // eslint-disable-next-line require-yield
  private async *watch({
    signal,
    sendInitialEvents,
  }: {
    signal?: AbortSignal;
    sendInitialEvents?: boolean;
  }): AsyncGenerator<never> {
    // As a server that only lists.
    if (sendInitialEvents) throw new StatusError('Invalid', 'sendInitialEvents is forbidden for watch');
    this.watches++;
    await new Promise<void>((resolve) => {
      for (const one of [signal, this.ended.signal]) one?.addEventListener('abort', () => resolve());
    });
  }
}

describe('SharedWatches', () => {
  const stop = new AbortController();
  afterAll(() => stop.abort(new Error('end of the test')));
  const watches = () =>
    new SharedWatches({ clock: realClock, random: realRandom, logger: silentLogger, signal: stop.signal });

  it('lists once for all, with the identity of one of them', async () => {
    const shared = watches();
    const [a, b] = [new Identity(), new Identity()];
    const first = shared.join(a.client, ConfigMaps, { namespace: 'n' });
    const second = shared.join(b.client, ConfigMaps, { namespace: 'n' });
    expect(second.informer).toBe(first.informer);
    await first.informer.waitForSync(stop.signal);
    expect(second.informer.lister.get('c', 'n')).toBeDefined();
    expect([a.lists, b.lists]).toEqual([1, 0]);
    first.leave();
    second.leave();
  });

  it('goes on as another when the one that watches goes', async () => {
    const shared = watches();
    const [a, b] = [new Identity(), new Identity()];
    const first = shared.join(a.client, ConfigMaps);
    const second = shared.join(b.client, ConfigMaps);
    await first.informer.waitForSync(stop.signal);
    first.leave();
    a.close();
    await eventually(() => b.watches === 1);
    expect(second.informer.lister.size).toBe(1);
    second.leave();
  });

  it('starts anew after the last has left', async () => {
    const shared = watches();
    const a = new Identity();
    const first = shared.join(a.client, ConfigMaps);
    await first.informer.waitForSync(stop.signal);
    first.leave();
    const next = shared.join(a.client, ConfigMaps);
    expect(next.informer).not.toBe(first.informer);
    await next.informer.waitForSync(stop.signal);
    expect(a.lists).toBe(2);
    next.leave();
  });
});
