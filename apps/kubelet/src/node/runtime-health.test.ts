import { silentLogger, VirtualClock } from '@tinkernetes/component-base/testing';
import { CriError, type CriErrorCode, type RuntimeClient } from '@tinkernetes/cri';
import { RuntimeHealth } from './runtime-health';

describe('RuntimeHealth', () => {
  let clock: VirtualClock;
  let stop: AbortController;
  let failure: CriErrorCode | undefined;
  let handed: string[];
  let changes: Array<string | undefined>;
  let health: RuntimeHealth;
  beforeEach(() => {
    clock = new VirtualClock();
    stop = new AbortController();
    failure = undefined;
    handed = [];
    changes = [];
    const condition = (type: string) => ({ type, status: true, reason: '', message: '' });
    const status = () =>
      failure
        ? Promise.reject(new CriError(failure, 'no answer'))
        : Promise.resolve({
            status: { conditions: [condition('RuntimeReady'), condition('NetworkReady')] },
            features: { supplementalGroupsPolicy: true },
            runtimeHandlers: [{ name: '', features: { recursiveReadOnlyMounts: true } }],
          });
    const updateRuntimeConfig = (request: { runtimeConfig: { networkConfig: { podCidr: string } } }) => {
      if (failure) return Promise.reject(new CriError(failure, 'no answer'));
      handed.push(request.runtimeConfig.networkConfig.podCidr);
      return Promise.resolve({});
    };
    health = new RuntimeHealth({
      runtime: { status, updateRuntimeConfig } as unknown as RuntimeClient,
      clock,
      logger: silentLogger,
      signal: stop.signal,
      onChange: () => changes.push(health.notReady),
    });
  });
  afterEach(async () => {
    stop.abort(new Error('end of the test'));
    await health.settled();
  });
  const look = async () => {
    health.check();
    await clock.advance(0);
  };

  it('is ready when the runtime says so, and not while it can not be reached', async () => {
    await look();
    expect(changes).toEqual([undefined]);
    failure = 'UNAVAILABLE';
    await look();
    expect(changes[1]).toBe('container runtime is down: no answer');
    failure = undefined;
    await clock.advance(2000);
    expect(health.notReady).toBeUndefined();
  });

  it('lets a runtime that is only slow take its time, but not for longer than half a minute', async () => {
    await look();
    failure = 'DEADLINE_EXCEEDED';
    await look();
    await clock.advance(20_000);
    expect(health.notReady).toBeUndefined();
    await clock.advance(15_000);
    expect(health.notReady).toBe('container runtime is down: no answer');
  });

  it('tells what the runtime can do', async () => {
    await look();
    expect(health.offered).toEqual({
      features: { supplementalGroupsPolicy: true },
      runtimeHandlers: [{ name: '', features: { recursiveReadOnlyMounts: true, userNamespaces: false } }],
    });
  });

  it('forgets that it was slow as soon as it answers', async () => {
    await look();
    failure = 'DEADLINE_EXCEEDED';
    await look();
    failure = undefined;
    await clock.advance(2000);
    expect(clock.timers).toBe(0);
    expect(changes).toEqual([undefined]);
  });

  it('hands over the pod CIDR again, once, when a runtime answers that did not at first', async () => {
    failure = 'DEADLINE_EXCEEDED';
    await look();
    await expect(health.setPodCIDR('10.244.0.0/24')).rejects.toThrow('no answer');
    await clock.advance(120_000);
    expect(handed).toEqual([]);
    expect(health.notReady).toBe('container runtime is down: no answer');
    failure = undefined;
    await clock.advance(2000);
    expect(handed).toEqual(['10.244.0.0/24']);
    expect(health.notReady).toBeUndefined();
    await look();
    expect(handed).toHaveLength(1);
  });
});
