import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Deployments, Leases, Pods, type Lease } from '@tinkernetes/api';
import { createClient, type Client } from '@tinkernetes/client';
import { formatMicroTime, realClock } from '@tinkernetes/component-base';
import { eventually } from '@tinkernetes/component-base/testing';
import { LeadershipLostError } from '@tinkernetes/controller';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';
import { followLease, gapsBetweenHolders, type LeaseHistory } from './testing/lease-history';
import { ended, ManagerProcesses } from './testing/manager-process';
import { startNodeActor, type NodeActor } from './testing/node-actor';
import { startManager } from './testing/test-manager';

const namespace = 'default';
/** Long enough for a machine with other work, too: a leader that can't renew gives up. */
const leaseMs = 8000;
const retryMs = 2000;

describe('a manager that cannot keep its lease', () => {
  it('ends, although it serves its metrics', async () => {
    const server = await startApiServer();
    const client = createClient(server.adminConfig);
    const manager = startManager(server, {
      args: [
        '--leader-elect',
        `--bind-address=unix:${join(tmpdir(), `tinkernetes-kcm-${process.pid}.sock`)}`,
        '--leader-elect-lease-duration=5s',
        '--leader-elect-renew-deadline=4s',
        '--leader-elect-retry-period=500ms',
      ],
    });
    const ended = manager.ended.then(
      () => undefined,
      (error: unknown) => error,
    );
    try {
      // On a busy machine it may have lost the lease before it was ready: it has to end all the same.
      await manager.ready.catch(() => undefined);
      const theirs = { holderIdentity: 'another', leaseDurationSeconds: 3600 };
      await client
        .for(Leases)
        .patch(
          'kube-controller-manager',
          { spec: { ...theirs, renewTime: formatMicroTime(realClock.now()) } },
          { type: 'merge', namespace: 'kube-system' },
        );
      expect(await ended).toBeInstanceOf(LeadershipLostError);
    } finally {
      await manager.stop().catch(() => undefined);
      client.close();
      await server.stop();
    }
  });
});

describe('two managers of which one leads', () => {
  let server: TestApiServer;
  let client: Client;
  let actor: NodeActor;
  let history: LeaseHistory;
  let managers: ManagerProcesses;

  beforeAll(async () => {
    server = await startApiServer();
    client = createClient(server.adminConfig);
    actor = await startNodeActor(client);
    history = await followLease(client, 'kube-controller-manager');
    managers = await ManagerProcesses.create(server, [
      `--leader-elect-lease-duration=${leaseMs}ms`,
      '--leader-elect-renew-deadline=7s',
      `--leader-elect-retry-period=${retryMs}ms`,
    ]);
  });
  afterAll(async () => {
    await managers?.stop();
    await history?.stop();
    await actor?.stop();
    client?.close();
    await server?.stop();
  });

  const lease = (): Promise<Lease> =>
    client.for(Leases).get('kube-controller-manager', { namespace: 'kube-system' });
  const create = (name: string) =>
    client.for(Deployments).create(
      {
        metadata: { name },
        spec: {
          replicas: 4,
          selector: { matchLabels: { app: name } },
          template: {
            metadata: { labels: { app: name } },
            spec: { containers: [{ name: 'main', image: 'web' }] },
          },
        },
      },
      { namespace },
    );
  const isAvailable = (name: string) =>
    eventually(
      async () => {
        const { status } = await client.for(Deployments).get(name, { namespace });
        expect(status?.availableReplicas).toBe(4);
      },
      // A process starts, and a lease runs out.
      { timeoutMs: 120_000 },
    );

  it('goes on under the other when the leader is killed, once its lease has run out, and does nothing twice', async () => {
    const made = new Set<string>();
    actor.pods.addEventHandler({ added: ({ metadata }) => made.add(metadata.uid ?? '') });
    managers.start();
    await create('before');
    await isAvailable('before');
    const before = await lease();
    const [first] = managers.running;
    if (!first) throw new Error('no manager is running');
    managers.start();
    await create('meanwhile');
    await ended(first);
    await isAvailable('meanwhile');
    const after = await lease();
    expect(after.spec.holderIdentity).not.toBe(before.spec.holderIdentity);
    const transitions = after.spec.leaseTransitions ?? 0;
    await eventually(() =>
      expect(history.versions.at(-1)?.spec.leaseTransitions).toBeGreaterThanOrEqual(transitions),
    );
    // On a busy machine the next leader may lose the lease, too: whoever takes it over has to wait.
    const gaps = gapsBetweenHolders(history.versions);
    expect(gaps.length).toBeGreaterThan(0);
    // That it takes no more than two tries longer is shown with a clock that nothing disturbs: leader-election.test.ts.
    for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(leaseMs);
    await eventually(() => expect(made.size).toBe(8));
    const { items } = await client.for(Pods).list({ namespace });
    expect(items.length).toBe(8);
  }, 300_000);
});
