import type { ChildProcess } from 'node:child_process';
import { Deployments, Leases, Pods, ReplicaSets, type Deployment } from '@tinkernetes/api';
import { createClient, type Client } from '@tinkernetes/client';
import { realClock } from '@tinkernetes/component-base';
import {
  eventually,
  findProgram,
  freePort,
  RedisServer,
  SeededRandom,
} from '@tinkernetes/component-base/testing';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';
import { ended, ManagerProcesses } from './testing/manager-process';
import { startNodeActor, type NodeActor } from './testing/node-actor';

/** A small sample; `npm run test:long` has 100 Deployments. */
const count = Number(process.env.CHAOS_DEPLOYMENTS ?? 6);
const kills = Number(process.env.CHAOS_KILLS ?? 3);
const replicas = 3;
const namespace = 'default';
/** A limit for what hangs: other suites run beside this one. */
const timeoutMs = 120_000 + count * 3000;
/** As long as a stop must last for its locks to run out. */
const stopMs = 2500;

const program = findProgram('redis-server');
const describeWithRedis = program === undefined ? describe.skip : describe;

describeWithRedis(
  'three managers that share their keys (needs redis-server: apt-get install redis-server)',
  () => {
    let redis: RedisServer;
    let server: TestApiServer;
    let client: Client;
    let actor: NodeActor;
    let managers: ManagerProcesses;
    /** Uids of all Pods that were ever made, by their ReplicaSet: whatever is done twice shows as one more. */
    const made = new Map<string, Set<string>>();

    beforeAll(async () => {
      redis = await RedisServer.start(program ?? '', ['--appendonly', 'no']);
      server = await startApiServer();
      client = createClient(server.adminConfig);
      managers = await ManagerProcesses.create(server, [
        '--work-queue=bullmq',
        `--redis=${redis.url}`,
        '--leader-elect-lease-duration=8s',
        '--leader-elect-renew-deadline=7s',
        '--leader-elect-retry-period=500ms',
      ]);
      actor = await startNodeActor(client);
      actor.pods.addEventHandler({
        added: ({ metadata }) => {
          const set = metadata.ownerReferences?.[0]?.name ?? '';
          made.set(set, (made.get(set) ?? new Set()).add(metadata.uid ?? ''));
        },
      });
    });
    afterAll(async () => {
      await managers?.stop();
      await actor?.stop();
      client?.close();
      await server?.stop();
      await redis?.remove();
    });

    const template = (app: string, image: string) => ({
      metadata: { labels: { app } },
      spec: { containers: [{ name: 'main', image }] },
    });
    const create = (name: string) =>
      client.for(Deployments).create(
        {
          metadata: { name },
          spec: { replicas, selector: { matchLabels: { app: name } }, template: template(name, 'web:1') },
        },
        { namespace },
      );
    const names = Array.from({ length: count }, (_, i) => `d-${i}`);
    const isDone = ({ metadata, spec, status }: Deployment) =>
      status?.observedGeneration === metadata.generation &&
      [status?.updatedReplicas, status?.availableReplicas, status?.replicas].every(
        (n) => n === spec.replicas,
      );
    const allDone = async () => {
      const { items } = await client.for(Deployments).list({ namespace });
      expect(items.filter((d) => !isDone(d)).map((d) => d.metadata.name)).toEqual([]);
    };
    const updated = () =>
      actor.pods.lister.list(namespace).filter((p) => p.spec.containers[0]?.image === 'web:2').length;

    /** Kills one and starts another instead, or stops one for so long that its keys are given away. */
    async function disturb(children: ChildProcess[], random: SeededRandom): Promise<void> {
      const at = Math.floor(random.next() * children.length);
      const victim = children[at];
      if (!victim) return;
      if (random.next() < 0.5) {
        await ended(victim);
        children[at] = managers.start();
        return;
      }
      victim.kill('SIGSTOP');
      await realClock.sleep(stopMs);
      victim.kill('SIGCONT');
    }

    it(
      'all work, and only the leader puts keys in',
      async () => {
        const ports = await Promise.all([freePort(), freePort(), freePort()]);
        const children = ports.map((port) => managers.start([`--secure-port=${port}`]));
        const all = (name: string) => Promise.all(ports.map((port) => metric(port, name)));
        try {
          await create('shared');
          let round = 0;
          await eventually(
            async () => {
              const annotations = { round: String(++round) };
              await client
                .for(Deployments)
                .patch('shared', { metadata: { annotations } }, { type: 'merge', namespace });
              const runs = await all('workqueue_work_duration_seconds_count');
              expect(runs.map((n) => n > 0)).toEqual([true, true, true]);
            },
            { timeoutMs, intervalMs: 100 },
          );
          // One that has lost the lead has ended: no other has put keys in.
          await eventually(async () => {
            const adds = await all('workqueue_adds_total');
            expect(adds.filter((n) => n > 0).length).toBe(1);
          });
        } finally {
          await Promise.all(children.map(ended));
        }
      },
      2 * timeoutMs,
    );

    it(
      'roll Deployments out while they are killed and stopped at random',
      async () => {
        const children = [managers.start(), managers.start(), managers.start()];
        await Promise.all(names.map(create));
        await eventually(allDone, { timeoutMs, intervalMs: 200 });

        const random = new SeededRandom(Number(process.env.CHAOS_SEED ?? 1));
        await Promise.all(
          names.map((name) =>
            client
              .for(Deployments)
              .patch(name, { spec: { template: template(name, 'web:2') } }, { type: 'strategic', namespace }),
          ),
        );
        const total = count * replicas;
        for (let kill = 1; kill <= kills; kill++) {
          const progress = Math.floor((total * kill) / (kills + 2));
          await eventually(() => expect(updated()).toBeGreaterThanOrEqual(progress), {
            timeoutMs,
            intervalMs: 20,
          });
          await disturb(children, random);
        }
        await eventually(allDone, { timeoutMs, intervalMs: 200 });

        for (const name of names) {
          const { items: sets } = await client
            .for(ReplicaSets)
            .list({ namespace, labelSelector: `app=${name}` });
          expect(sets.map((s) => s.spec.replicas).sort()).toEqual([0, replicas]);
          const { items: pods } = await client.for(Pods).list({ namespace, labelSelector: `app=${name}` });
          expect(pods.map((p) => p.spec.containers[0]?.image)).toEqual(Array(replicas).fill('web:2'));
        }
        expect([...made.values()].map((uids) => uids.size)).toEqual(Array(2 * count + 1).fill(replicas));
        const lease = await client.for(Leases).get('kube-controller-manager', { namespace: 'kube-system' });
        expect(lease.spec.holderIdentity).toBeTruthy();
      },
      timeoutMs * 4,
    );
  },
);

/** Of the deployments' queue. */
async function metric(port: number, name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(new RegExp(`^${name}\\{name="deployment"\\} (\\d+)`, 'm').exec(text)?.[1] ?? 0);
}
