import { VirtualClock } from '@tinkernetes/component-base/testing';
import type { ContainerEventResponse, RuntimeClient } from '@tinkernetes/cri';
import { annotations, labels } from './labels';
import { PodCache } from './pod-cache';

type State = 'CONTAINER_CREATED' | 'CONTAINER_RUNNING' | 'CONTAINER_EXITED';

const sandbox = (id: string, state: 'SANDBOX_READY' | 'SANDBOX_NOTREADY' = 'SANDBOX_READY') => ({
  id,
  metadata: { uid: 'u', name: 'p', namespace: 'default', attempt: 0 },
  state,
  createdAt: 0,
  network: { ip: '10.0.0.2', additionalIps: [] },
});
const container = (id: string, state: State) => ({
  id,
  podSandboxId: 's',
  metadata: { name: id, attempt: 0 },
  state,
  createdAt: 0,
  labels: { [labels.containerName]: id },
  annotations: { [annotations.containerHash]: 'h' },
});
const event = (id: string, sandboxes: ReturnType<typeof sandbox>, containers: object[] = []) =>
  ({
    containerId: id,
    podSandboxStatus: sandboxes,
    containersStatuses: containers,
  }) as unknown as ContainerEventResponse;

describe('PodCache', () => {
  let calls: string[];
  let sandboxes: Array<ReturnType<typeof sandbox>>;
  let containers: Array<ReturnType<typeof container>>;
  let clock: VirtualClock;
  let cache: PodCache;
  beforeEach(() => {
    calls = [];
    sandboxes = [];
    containers = [];
    clock = new VirtualClock();
    const answer = (call: string, value: unknown) => {
      calls.push(call);
      return Promise.resolve(value);
    };
    const runtime = {
      listPodSandbox: () => answer('listPodSandbox', { items: sandboxes }),
      listContainers: () => answer('listContainers', { containers }),
      podSandboxStatus: ({ podSandboxId }: { podSandboxId: string }) =>
        answer('podSandboxStatus', { status: sandboxes.find((s) => s.id === podSandboxId) }),
      containerStatus: ({ containerId }: { containerId: string }) =>
        answer('containerStatus', { status: containers.find((c) => c.id === containerId) }),
    };
    cache = new PodCache(runtime as unknown as RuntimeClient, clock);
  });
  const listed = (...uids: string[]) => cache.listing()(new Set(uids));
  const follow = () => {
    listed();
    cache.following = true;
  };

  it('asks the runtime once while nothing changes', async () => {
    sandboxes = [sandbox('s')];
    expect((await cache.get('u')).ips).toEqual(['10.0.0.2']);
    await cache.get('u');
    expect(calls).toEqual(['listPodSandbox', 'listContainers', 'podSandboxStatus']);
  });

  it('knows without asking that a Pod has nothing which no listing has shown', async () => {
    listed('other');
    expect((await cache.get('u', 'p', 'default')).sandboxes).toEqual([]);
    expect(calls).toEqual([]);
  });

  it('takes what events say and asks nothing', async () => {
    follow();
    cache.expect('u', 's', 'running');
    const waiting = cache.get('u');
    expect(cache.observe('u', event('s', sandbox('s')), 'running')).toBe(false);
    expect((await waiting).ips).toEqual(['10.0.0.2']);
    expect(cache.observe('u', event('c', sandbox('s'), [container('c', 'CONTAINER_EXITED')]), 'exited')).toBe(
      true,
    );
    expect((await cache.get('u')).containers).toMatchObject([{ id: 'c', state: 'exited', hash: 'h' }]);
    expect(calls).toEqual([]);
  });

  it('returns no view from before what the kubelet did last', async () => {
    follow();
    cache.observe('u', event('s', sandbox('s')), 'running');
    cache.expect('u', 'c', 'running');
    const waiting = cache.get('u');
    cache.observe('u', event('s', sandbox('s')), 'running');
    expect(cache.peek('u')).toBeUndefined();
    cache.observe('u', event('c', sandbox('s'), [container('c', 'CONTAINER_CREATED')]), 'created');
    expect(cache.peek('u')).toBeUndefined();
    cache.observe('u', event('c', sandbox('s'), [container('c', 'CONTAINER_RUNNING')]), 'running');
    expect((await waiting).containers).toMatchObject([{ id: 'c', state: 'running' }]);
  });

  it('asks the runtime when an event does not come', async () => {
    follow();
    cache.expect('u', 's', 'running');
    sandboxes = [sandbox('s')];
    const waiting = cache.get('u');
    await clock.advance(1000);
    expect((await waiting).sandboxes).toHaveLength(1);
    expect(calls).toContain('podSandboxStatus');
  });

  it('asks about a Pod of several sandboxes, as events tell of one only', async () => {
    follow();
    cache.observe('u', event('old', sandbox('old', 'SANDBOX_NOTREADY')), 'exited');
    cache.expect('u', 's', 'running');
    cache.observe('u', event('s', sandbox('s')), 'running');
    sandboxes = [sandbox('old', 'SANDBOX_NOTREADY'), sandbox('s')];
    expect((await cache.get('u')).sandboxes).toHaveLength(2);
  });

  it('says when an event tells of what the kubelet does itself', async () => {
    follow();
    await cache.whileActing('u', () => {
      expect(cache.observe('u', event('s', sandbox('s')), 'running')).toBe(false);
      return Promise.resolve();
    });
    cache.observe('u', event('c', sandbox('s'), [container('c', 'CONTAINER_RUNNING')]), 'running');
    cache.expect('u', 'c', 'exited');
    const stopped = event('c', sandbox('s'), [container('c', 'CONTAINER_EXITED')]);
    expect(cache.observe('u', stopped, 'exited')).toBe(false);
    cache.expect('u', 'c', 'removed');
    expect(cache.observe('u', event('c', sandbox('s')), 'removed')).toBe(false);
    expect(cache.peek('u')?.containers).toEqual([]);
  });

  it('looks again after a call that failed', async () => {
    follow();
    cache.observe('u', event('c', sandbox('s'), [container('c', 'CONTAINER_CREATED')]), 'created');
    cache.expect('u', 'c', 'running');
    cache.failed('u', 'c');
    sandboxes = [sandbox('s')];
    containers = [container('c', 'CONTAINER_EXITED')];
    expect((await cache.get('u')).containers).toMatchObject([{ state: 'exited' }]);
  });

  it('keeps nothing of Pods that the runtime no longer has', async () => {
    sandboxes = [sandbox('s')];
    await Promise.all(['a', 'b', 'c'].map((uid) => cache.get(uid)));
    const done = cache.listing();
    cache.expect('c', 'new', 'running');
    done(new Set(['b']));
    expect(cache.size).toBe(2);
  });
});
