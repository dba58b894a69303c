import type { Pod } from '@tinkernetes/api';
import { silentLogger, VirtualClock } from '@tinkernetes/component-base/testing';
import type { KillRequest } from '../pods/pod-workers';
import { ShutdownManager } from './shutdown-manager';
import { shutdownPeriods } from './shutdown-periods';

const pod = (name: string, spec: Partial<Pod['spec']> = {}): Pod => ({
  metadata: { name, uid: name },
  spec: { containers: [], ...spec },
});

describe('shutdownPeriods', () => {
  const none = { totalMs: 0, criticalMs: 0, byPriority: [] };
  it.each([
    ['nothing', none, []],
    [
      'a total and the critical part of it',
      { ...none, totalMs: 30_000, criticalMs: 10_000 },
      [
        { priority: 0, seconds: 20 },
        { priority: 2_000_000_000, seconds: 10 },
      ],
    ],
    [
      'one per priority',
      {
        ...none,
        byPriority: [
          { priority: 100, shutdownGracePeriodSeconds: 5 },
          { priority: -1, shutdownGracePeriodSeconds: 9 },
        ],
      },
      [
        { priority: -1, seconds: 9 },
        { priority: 100, seconds: 5 },
      ],
    ],
  ])('takes %s', (_, settings, expected) => expect(shutdownPeriods(settings)).toEqual(expected));

  it.each([
    [
      'a critical part that is longer than the whole',
      { ...none, totalMs: 1000, criticalMs: 2000 },
      'must not',
    ],
    [
      'both ways at once',
      { ...none, totalMs: 1000, byPriority: [{ priority: 0, shutdownGracePeriodSeconds: 1 }] },
      'exclude each other',
    ],
  ])('refuses %s', (_, settings, text) => expect(() => shutdownPeriods(settings)).toThrow(text));
});

describe('ShutdownManager', () => {
  const periods = [
    { priority: 0, seconds: 20 },
    { priority: 1000, seconds: 10 },
  ];
  const pods = [
    pod('plain'),
    pod('quick', { terminationGracePeriodSeconds: 3 }),
    pod('low', { priority: -5 }),
    pod('critical', { priority: 2000 }),
  ];
  let clock: VirtualClock;
  let killed: Array<[string, KillRequest]>;
  let ended: Set<string>;
  let manager: ShutdownManager;
  let stop: AbortController;
  beforeEach(() => {
    clock = new VirtualClock();
    killed = [];
    ended = new Set();
    stop = new AbortController();
    manager = new ShutdownManager({
      clock,
      logger: silentLogger,
      periods,
      signal: stop.signal,
      activePods: () => pods,
      kill: ({ metadata }, request) => killed.push([metadata.name, request]),
      hasEnded: (uid) => ended.has(uid),
      onStart: () => undefined,
    });
  });
  const names = () => killed.map(([name]) => name);
  const end = async (...uids: string[]) => {
    for (const uid of uids) ended.add(uid);
    manager.ended();
    await clock.advance(0);
  };

  it('takes no Pods and is not ready from the start', () => {
    expect(manager.notReady).toBeUndefined();
    expect(manager.refusal).toBeUndefined();
    void manager.shutDown();
    expect(manager.notReady).toBe('node is shutting down');
    expect(manager.refusal?.reason).toBe('NodeShutdown');
    stop.abort(new Error('end of the test'));
  });

  it('ends Pods of low priority first, each with the shorter of its own and its group’s period', async () => {
    const done = manager.shutDown();
    expect(killed.map(([name, { gracePeriodSeconds }]) => [name, gracePeriodSeconds])).toEqual([
      ['plain', 20],
      ['quick', 3],
      ['low', 20],
    ]);
    expect(killed[0]?.[1].verdict).toMatchObject({
      reason: 'Terminated',
      message: 'Pod was terminated in response to imminent node shutdown.',
      conditions: [{ type: 'DisruptionTarget', reason: 'TerminationByKubelet' }],
    });
    await end('plain', 'quick');
    expect(names()).not.toContain('critical');
    await end('low');
    expect(killed.at(-1)).toMatchObject(['critical', { gracePeriodSeconds: 10 }]);
    await end('critical');
    await done;
    expect(clock.timers).toBe(0);
  });

  it('goes on with the next group when a period is over', async () => {
    const done = manager.shutDown();
    await clock.advance(19_999);
    expect(names()).not.toContain('critical');
    await clock.advance(1);
    expect(names()).toContain('critical');
    await clock.advance(10_000);
    await done;
  });
});
