import { silentLogger, VirtualClock } from '@tinkernetes/component-base/testing';
import { CriError, type ContainerEventResponse, type RuntimeClient } from '@tinkernetes/cri';
import { labels } from '../runtime/labels';
import { PodCache } from '../runtime/pod-cache';
import { PLEG } from './pleg';

class Runtime {
  state = 'CONTAINER_RUNNING';
  lists = 0;
  /** Left out: the runtime offers no events. */
  private send: ((event: ContainerEventResponse | Error) => void) | undefined;

  constructor(private readonly hasEvents: boolean) {}

  /** What the kubelet asks. */
  client(): RuntimeClient {
    const items = [
      {
        id: 's',
        state: 'SANDBOX_READY',
        metadata: { uid: 'u' },
        labels: { [labels.podUID]: 'u', [labels.nodeName]: 'light-3' },
      },
    ];
    const client = {
      listPodSandbox: () => {
        this.lists++;
        return Promise.resolve({ items });
      },
      listContainers: () =>
        Promise.resolve({ containers: [{ id: 'c', state: this.state, labels: { [labels.podUID]: 'u' } }] }),
      getContainerEvents: () => this.events(),
    };
    return client as unknown as RuntimeClient;
  }

  stopped(): void {
    const podSandboxStatus = { id: 's', metadata: { uid: 'u' }, labels: {}, state: 'SANDBOX_READY' };
    const containersStatuses = [{ id: 'c', state: 'CONTAINER_EXITED', labels: {}, annotations: {} }];
    const containerEventType = 'CONTAINER_STOPPED_EVENT';
    const event = { containerId: 'c', containerEventType, podSandboxStatus, containersStatuses };
    this.send?.(event as unknown as ContainerEventResponse);
  }

  breakOff(): void {
    this.send?.(new Error('the runtime has gone'));
  }

  private async *events(): AsyncGenerator<ContainerEventResponse> {
    if (!this.hasEvents) throw new CriError('UNIMPLEMENTED', 'unknown method GetContainerEvents');
    for (;;) {
      const next = await new Promise<ContainerEventResponse | Error>((resolve) => (this.send = resolve));
      if (next instanceof Error) throw next;
      yield next;
    }
  }
}

describe('PLEG', () => {
  let clock: VirtualClock;
  let stop: AbortController;
  let changed: Array<[string, string | undefined]>;
  const start = (runtime: Runtime) => {
    clock = new VirtualClock();
    stop = new AbortController();
    changed = [];
    const client = runtime.client();
    const pleg = new PLEG({
      runtime: client,
      cache: new PodCache(client, clock),
      clock,
      logger: silentLogger,
      signal: stop.signal,
      onPodChanged: (uid, owner) => changed.push([uid, owner]),
      onRelist: () => undefined,
    });
    void pleg.run();
    return clock.advance(0);
  };
  afterEach(async () => {
    stop.abort(new Error('end of the test'));
    await clock.advance(0);
  });

  it('lists every second where the runtime offers no events, and tells of what differs, once', async () => {
    const runtime = new Runtime(false);
    await start(runtime);
    await clock.advance(1000);
    expect(changed).toEqual([['u', 'light-3']]);
    runtime.state = 'CONTAINER_EXITED';
    await clock.advance(1000);
    await clock.advance(1000);
    expect(changed).toHaveLength(2);
  });

  it('lists once while events flow, and every five minutes as a safety net', async () => {
    const runtime = new Runtime(true);
    await start(runtime);
    expect(runtime.lists).toBe(1);
    runtime.stopped();
    await clock.advance(0);
    expect(changed).toHaveLength(2);
    await clock.advance(299_000);
    expect(runtime.lists).toBe(1);
    runtime.state = 'CONTAINER_EXITED';
    await clock.advance(1000);
    expect(runtime.lists).toBe(2);
    expect(changed).toHaveLength(3);
  });

  it('lists again when the stream breaks off, for what happened meanwhile', async () => {
    const runtime = new Runtime(true);
    await start(runtime);
    runtime.breakOff();
    runtime.state = 'CONTAINER_EXITED';
    await clock.advance(1000);
    expect(changed.at(-1)).toEqual(['u', 'light-3']);
    expect(changed).toHaveLength(2);
  });
});
