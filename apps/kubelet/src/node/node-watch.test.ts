import { Nodes, type Node, type Pod } from '@tinkernetes/api';
import { StatusError } from '@tinkernetes/apimachinery';
import type { Client, WatchEvent } from '@tinkernetes/client';
import { realClock, realRandom } from '@tinkernetes/component-base';
import { eventually, silentLogger } from '@tinkernetes/component-base/testing';
import { NodeWatch } from './node-watch';

const node = (name: string): Node => ({ metadata: { name, uid: name, resourceVersion: '1' } }) as Node;
const pod = (name: string, nodeName: string): Pod => ({
  metadata: { name, namespace: 'default', uid: name, resourceVersion: '1' },
  spec: { nodeName, containers: [] },
});

/** Lists what it was made with; its watches say what the test sends. */
class Server {
  readonly selectors: string[] = [];
  private readonly watching = new Map<string, (event: WatchEvent<never>) => void>();

  constructor(private readonly content: { nodes: readonly Node[]; pods: readonly Pod[] }) {}

  readonly client = {
    for: (descriptor: { resource: 'nodes' | 'pods' }) => ({
      descriptor,
      list: ({ fieldSelector = '' }) => {
        this.selectors.push(`${descriptor.resource} ${fieldSelector}`);
        return Promise.resolve({
          metadata: { resourceVersion: '1' },
          items: [...this.content[descriptor.resource]],
        });
      },
      watch: (options: { signal: AbortSignal; sendInitialEvents?: boolean }) =>
        this.events(descriptor.resource, options),
    }),
  } as unknown as Client;

  get isWatched(): boolean {
    return this.watching.size === 2;
  }

  send(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: Node | Pod): void {
    const resource = 'spec' in object && 'containers' in (object.spec ?? {}) ? 'pods' : Nodes.resource;
    this.watching.get(resource)?.({ type, object } as WatchEvent<never>);
  }

  private async *events(
    resource: string,
    { signal, sendInitialEvents }: { signal: AbortSignal; sendInitialEvents?: boolean },
  ): AsyncGenerator<WatchEvent<never>> {
    // As a server that only lists.
    if (sendInitialEvents) throw new StatusError('Invalid', 'sendInitialEvents is forbidden for watch');
    const queue: WatchEvent<never>[] = [];
    let wake: () => void = () => undefined;
    signal.addEventListener('abort', () => wake());
    this.watching.set(resource, (event) => {
      queue.push(event);
      wake();
    });
    while (!signal.aborted) {
      const next = queue.shift();
      if (next) yield next;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }
}

describe('NodeWatch', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort(new Error('end of the test')));

  const watchOf = (server: Server, nodeName?: string) => {
    const { signal } = stop;
    const deps = {
      client: server.client,
      clock: realClock,
      random: realRandom,
      logger: silentLogger,
      signal,
    };
    return new NodeWatch(deps, nodeName);
  };
  const follow = async (watch: NodeWatch, name: string) => {
    const seen: string[] = [];
    const note = (what: string) => (object: Node | Pod) => void seen.push(`${what} ${object.metadata.name}`);
    await watch.followNode(name, { added: note('added') }, stop.signal);
    const updated = (_old: Pod, next: Pod) => note('updated')(next);
    await watch.followPods(name, { added: note('added'), updated, deleted: note('deleted') }, stop.signal);
    return seen;
  };

  it('asks for no more than what a node may see, and for everything once where nodes share an identity', async () => {
    const own = new Server({ nodes: [node('a')], pods: [] });
    await follow(watchOf(own, 'a'), 'a');
    expect(own.selectors).toEqual(['nodes metadata.name=a', 'pods spec.nodeName=a']);
    const common = new Server({ nodes: [node('a'), node('b')], pods: [] });
    const watch = watchOf(common);
    await follow(watch, 'a');
    await follow(watch, 'b');
    expect(common.selectors).toEqual(['nodes ', 'pods spec.nodeName!=']);
  });

  it('tells each node of its own objects, also one that comes late, and of each once', async () => {
    const server = new Server({ nodes: [node('a'), node('b')], pods: [pod('p', 'a'), pod('q', 'b')] });
    const watch = watchOf(server);
    const a = await follow(watch, 'a');
    const b = await follow(watch, 'b');
    await eventually(() => server.isWatched);
    server.send('ADDED', pod('r', 'b'));
    server.send('MODIFIED', pod('p', 'a'));
    server.send('DELETED', pod('q', 'b'));
    await eventually(() => b.length === 4);
    expect(a).toEqual(['added a', 'added p', 'updated p']);
    expect(b).toEqual(['added b', 'added q', 'added r', 'deleted q']);
  });

  it('waits for a Node that is registered while others are watched already', async () => {
    const server = new Server({ nodes: [node('a')], pods: [] });
    const watch = watchOf(server);
    await follow(watch, 'a');
    await eventually(() => server.isWatched);
    const late = follow(watch, 'c');
    server.send('ADDED', node('c'));
    expect(await late).toEqual(['added c']);
    expect(watch.node('c')?.metadata.name).toBe('c');
  });

  it('tells a node that has left nothing', async () => {
    const server = new Server({ nodes: [node('a'), node('b')], pods: [] });
    const watch = watchOf(server);
    const a = await follow(watch, 'a');
    const b = await follow(watch, 'b');
    await eventually(() => server.isWatched);
    watch.leave('a');
    server.send('ADDED', pod('p', 'a'));
    server.send('ADDED', pod('q', 'b'));
    await eventually(() => b.length === 2);
    expect(a).toEqual(['added a']);
  });

  it('gives up when it is stopped', async () => {
    const watch = watchOf(new Server({ nodes: [], pods: [] }));
    const waiting = watch.followNode('a', {}, stop.signal);
    stop.abort(new Error('stop'));
    await expect(waiting).rejects.toThrow('stop');
  });
});
