import { ConfigMaps, ReplicaSets, type ConfigMap, type ReplicaSet } from '@tinkernetes/api';
import { eventually, VirtualClock } from '@tinkernetes/component-base/testing';
import { claimChildren, controllerRefOf } from './controller-ref';
import { ControllerExpectations } from './expectations';
import { allInTurns, slowStartBatch } from './slow-start';
import { TestClient } from './test-client';

describe('slowStartBatch', () => {
  it('doubles its batches', async () => {
    const running: (() => void)[] = [];
    const result = slowStartBatch(10, () => new Promise((resolve) => running.push(resolve)));
    for (const size of [1, 2, 4, 3]) {
      await eventually(() => expect(running.length).toBe(size));
      for (const finish of running.splice(0)) finish();
    }
    expect(await result).toEqual({ successes: 10 });
  });

  it('stops after a batch with a failure', async () => {
    const tried: number[] = [];
    const result = await slowStartBatch(100, async (i) => {
      tried.push(i);
      if (i === 1) throw new Error('quota');
    });
    expect(result).toMatchObject({ successes: 2, error: { message: 'quota' } });
    expect(tried).toEqual([0, 1, 2]);
  });
});

describe('allInTurns', () => {
  it('does all, then fails with the first failure', async () => {
    const done: number[] = [];
    const work = async (i: number) => {
      await new Promise((resolve) => setImmediate(resolve));
      if (i === 1 || i === 2) throw new Error(`failed ${i}`);
      done.push(i);
    };
    await expect(allInTurns([0, 1, 2, 3], work)).rejects.toThrow('failed 1');
    expect(done).toEqual([0, 3]);
  });
});

describe('ControllerExpectations', () => {
  it('holds the owner back until all that was asked for was seen', () => {
    const expectations = new ControllerExpectations(new VirtualClock());
    expect(expectations.satisfied('a')).toBe(true);
    expectations.expectCreations('a', 2);
    expectations.creationObserved('a');
    expect(expectations.satisfied('a')).toBe(false);
    expect(expectations.satisfied('b')).toBe(true);
    expectations.creationObserved('a');
    expect(expectations.satisfied('a')).toBe(true);
  });

  it('counts a deletion once, however often it is told', () => {
    const expectations = new ControllerExpectations(new VirtualClock());
    expectations.expectDeletions('a', ['x', 'y']);
    expectations.deletionObserved('a', 'x');
    expectations.deletionObserved('a', 'x');
    expect(expectations.satisfied('a')).toBe(false);
    expectations.deletionObserved('a', 'y');
    expect(expectations.satisfied('a')).toBe(true);
  });

  it('gives up waiting after five minutes', async () => {
    const clock = new VirtualClock();
    const expectations = new ControllerExpectations(clock);
    expectations.expectCreations('a', 1);
    await clock.advance(5 * 60_000 + 1);
    expect(expectations.satisfied('a')).toBe(true);
  });
});

describe('claimChildren', () => {
  const owner = (change: Partial<ReplicaSet['metadata']> = {}): ReplicaSet => ({
    metadata: { name: 'web', namespace: 'default', uid: 'owner', ...change },
    spec: { selector: {} },
  });
  const child = (name: string, app: string, metadata: Partial<ConfigMap['metadata']> = {}): ConfigMap => ({
    metadata: { name, namespace: 'default', uid: `uid-${name}`, labels: { app }, ...metadata },
  });
  const owned = { ownerReferences: [controllerRefOf(owner(), ReplicaSets)] };
  const foreign = { ownerReferences: [controllerRefOf(owner({ uid: 'other' }), ReplicaSets)] };

  const claim = async (children: ConfigMap[], cached = owner(), fresh = cached) => {
    const server = new TestClient();
    const client = server.resource(ConfigMaps);
    for (const c of children) await client.create(c);
    server.calls.length = 0;
    const claimed = await claimChildren({
      owner: cached,
      ownerDescriptor: ReplicaSets,
      client,
      candidates: children,
      matches: (c) => c.metadata.labels?.app === 'web',
      freshOwner: () => Promise.resolve(fresh),
    });
    return { names: claimed.map((c) => c.metadata.name), calls: server.calls, server };
  };

  it('keeps its own, adopts orphans that match, releases what no longer matches', async () => {
    const { names, calls, server } = await claim([
      child('mine', 'web', owned),
      child('orphan', 'web'),
      child('strange-orphan', 'db'),
      child('lost', 'db', owned),
      child('theirs', 'web', foreign),
    ]);
    expect(names).toEqual(['mine', 'orphan']);
    expect(calls).toEqual(['patch orphan', 'patch lost']);
    expect(server.objects.get('configmaps/default/orphan')?.metadata.ownerReferences).toEqual(
      owned.ownerReferences,
    );
  });

  it('adopts nothing that is being deleted, and nothing for an owner that is', async () => {
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    expect((await claim([child('dying', 'web', { deletionTimestamp })])).names).toEqual([]);
    const dying = await claim(
      [child('orphan', 'web'), child('lost', 'db', owned)],
      owner({ deletionTimestamp }),
    );
    expect([dying.names, dying.calls]).toEqual([[], []]);
  });

  it('asks the server whether the owner is still the one it was before it adopts', async () => {
    await expect(claim([child('orphan', 'web')], owner(), owner({ uid: 'new' }))).rejects.toThrow('is gone');
    const deleted = owner({ deletionTimestamp: '2026-01-01T00:00:00Z' });
    await expect(claim([child('orphan', 'web')], owner(), deleted)).rejects.toThrow('just been deleted');
    expect((await claim([child('mine', 'web', owned)], owner(), deleted)).names).toEqual(['mine']);
  });
});
