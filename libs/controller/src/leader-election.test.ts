import { Leases, type Lease } from '@tinkernetes/api';
import { formatMicroTime } from '@tinkernetes/component-base';
import { SeededRandom, silentLogger, VirtualClock } from '@tinkernetes/component-base/testing';
import { LeadershipLostError, runLeaderElection } from './leader-election';
import { TestClient } from './test-client';

describe('runLeaderElection', () => {
  let server: TestClient;
  let clock: VirtualClock;
  beforeEach(() => {
    server = new TestClient();
    clock = new VirtualClock();
  });

  const lease = () => server.objects.get('leases/kube-system/kube-scheduler') as Lease | undefined;
  const candidate = (identity: string) => {
    const stop = new AbortController();
    let leading: AbortSignal | undefined;
    const ended = runLeaderElection({
      client: server.client,
      clock,
      random: new SeededRandom(identity.length),
      logger: silentLogger,
      signal: stop.signal,
      lease: { name: 'kube-scheduler' },
      identity,
      lead: (signal) => {
        leading = signal;
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      },
    });
    // A loss is looked at later.
    ended.catch(() => undefined);
    return {
      stop: () => stop.abort(new Error('stopped')),
      ended,
      leads: () => leading !== undefined && !leading.aborted,
    };
  };

  it('takes a lease that nobody holds, and keeps it renewed', async () => {
    const a = candidate('a');
    await clock.advance(0);
    expect(a.leads()).toBe(true);
    expect(lease()?.spec).toMatchObject({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      leaseTransitions: 0,
    });
    const first = lease()?.spec.renewTime;
    await clock.advance(2000);
    expect(lease()?.spec.renewTime).not.toBe(first);
    expect(lease()?.spec.acquireTime).toBe(first);
    a.stop();
    await clock.advance(0);
    await a.ended;
    expect(clock.timers).toBe(0);
  });

  it('tells on the Lease who leads', async () => {
    const told: string[] = [];
    const stop = new AbortController();
    await runLeaderElection({
      client: server.client,
      clock,
      random: new SeededRandom(),
      logger: silentLogger,
      signal: stop.signal,
      lease: { name: 'kube-scheduler' },
      identity: 'a',
      recorder: {
        event: (object, _type, reason, message) =>
          told.push(`${object.kind}/${object.metadata.name} ${reason}: ${message}`),
        flush: () => Promise.resolve(),
      },
      lead: async () => undefined,
    });
    expect(told).toEqual([
      'Lease/kube-scheduler LeaderElection: a became leader',
      'Lease/kube-scheduler LeaderElection: a stopped leading',
    ]);
  });

  it('waits while another holds it, and takes over soon after a release', async () => {
    const a = candidate('a');
    await clock.advance(0);
    const b = candidate('bb');
    await clock.advance(60_000);
    expect([a.leads(), b.leads()]).toEqual([true, false]);
    a.stop();
    await clock.advance(0);
    await a.ended;
    expect(lease()?.spec.holderIdentity).toBe('');
    await clock.advance(5000);
    expect(b.leads()).toBe(true);
    expect(lease()?.spec).toMatchObject({ holderIdentity: 'bb', leaseTransitions: 1 });
    b.stop();
    await clock.advance(0);
    await b.ended;
  });

  it('takes over from a holder that died, when the lease has run out', async () => {
    await server.resource(Leases).create({
      metadata: { name: 'kube-scheduler', namespace: 'kube-system' },
      spec: { holderIdentity: 'dead', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.000000Z' },
    });
    const b = candidate('bb');
    await clock.advance(14_000);
    expect(b.leads()).toBe(false);
    await clock.advance(6000);
    expect(b.leads()).toBe(true);
    b.stop();
    await clock.advance(0);
    await b.ended;
  });

  it.each(Array.from({ length: 12 }, (_, i) => i * 170))(
    'takes over within two retry periods of the end of a lease that was last renewed %i ms after a look at it',
    async (offsetMs) => {
      const leases = server.resource(Leases);
      const renewed = (at: number) => ({
        holderIdentity: 'other',
        leaseDurationSeconds: 15,
        renewTime: formatMicroTime(at),
      });
      await leases.create({
        metadata: { name: 'kube-scheduler', namespace: 'kube-system' },
        spec: renewed(clock.now()),
      });
      const b = candidate('b'.repeat(1 + (offsetMs % 7)));
      await clock.advance(offsetMs);
      for (let i = 0; i < 5; i++) {
        await clock.advance(2000);
        await leases.update({ ...(lease() as Lease), spec: renewed(clock.now()) });
      }
      const lastMs = clock.now();
      for (let ms = 0; ms < 20_000 && !b.leads(); ms += 100) await clock.advance(100);
      const tookMs = Date.parse(lease()?.spec.acquireTime ?? '') - lastMs;
      expect(tookMs).toBeGreaterThanOrEqual(15_000);
      expect(tookMs).toBeLessThanOrEqual(15_000 + 2 * 2000);
      b.stop();
      await clock.advance(0);
      await b.ended;
    },
  );

  it('stops leading when the lease could not be renewed in time', async () => {
    const a = candidate('a');
    await clock.advance(0);
    server.failure = new Error('connection refused');
    await clock.advance(8000);
    expect(a.leads()).toBe(true);
    await clock.advance(5000);
    expect(a.leads()).toBe(false);
    await expect(a.ended).rejects.toBeInstanceOf(LeadershipLostError);
    expect(clock.timers).toBe(0);
  });

  it('stops leading when another has taken the lease', async () => {
    const a = candidate('a');
    await clock.advance(0);
    const taken = lease() as Lease;
    await server.resource(Leases).update({ ...taken, spec: { ...taken.spec, holderIdentity: 'other' } });
    await clock.advance(13_000);
    expect(a.leads()).toBe(false);
    await expect(a.ended).rejects.toBeInstanceOf(LeadershipLostError);
    expect(lease()?.spec.holderIdentity).toBe('other');
  });

  it('ends without leading when it is stopped while it waits', async () => {
    const a = candidate('a');
    await clock.advance(0);
    const b = candidate('bb');
    await clock.advance(3000);
    b.stop();
    await clock.advance(0);
    await b.ended;
    expect(b.leads()).toBe(false);
    a.stop();
    await clock.advance(0);
    await a.ended;
  });
});
