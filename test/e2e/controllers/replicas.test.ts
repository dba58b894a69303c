import { findProgram, RedisServer } from '@tinkernetes/component-base/testing';
import { useCluster } from '../../harness/cluster-fixture';
import { ComponentProcess } from '../../harness/component-process';

/** Several controller managers of one cluster: one of them leads, or all share the work. */
const fixture = useCluster([
  '--nodes=1',
  '--storage=memory',
  '--without=controller-manager,cluster-dns,kube-proxy',
]);
const { run, read, until } = fixture;
const redisServer = findProgram('redis-server');

const managers = new Set<ComponentProcess>();
const election = ['leader-elect=true', 'leader-elect-lease-duration=8s', 'leader-elect-renew-deadline=7s'];
const withoutPort = ['bind-address=127.0.0.1', 'secure-port=0'];
/** One that gives up, since it lost its leadership while the machine was busy, is started again. */
function startManager(flags: readonly string[] = []): ComponentProcess {
  const all = [...election, 'leader-elect-retry-period=1s', ...withoutPort, ...flags];
  const manager = ComponentProcess.start(fixture.cluster, 'controller-manager', all);
  managers.add(manager);
  void manager.exited.then((code) => {
    const hasGivenUp = managers.delete(manager) && code !== null && code !== 0;
    if (hasGivenUp) startManager(flags);
  });
  return manager;
}
const endAll = async () => {
  await Promise.all([...managers].map((manager) => manager.end()));
};
afterAll(endAll);

const lease = (path: string) => read('lease/kube-controller-manager -n kube-system', path);
const holder = () => lease('{.spec.holderIdentity}');
/** Whatever is done twice shows as one ReplicaSet or one Pod more. */
async function expectOnce(
  app: string,
  { revisions, pods }: { revisions: number; pods: number },
): Promise<void> {
  await until(async () => {
    const sets = await read(`rs -l app=${app}`, '{.items[*].spec.replicas}');
    expect(sets.split(' ').sort()).toEqual([...Array<string>(revisions - 1).fill('0'), String(pods)]);
    expect((await read(`pods -l app=${app}`, '{.items[*].metadata.name}')).split(' ')).toHaveLength(pods);
  });
}

it('leader election: when the leader is killed the other takes the Lease over and goes on, and nothing is done twice', async () => {
  const first = startManager();
  await until(async () => expect(await read('nodes', '{.items[*].metadata.name}')).toBe('node-1'));
  await run('wait --for=condition=Ready node/node-1 --timeout=120s');
  const before = await holder();
  expect(before).not.toBe('');
  startManager();
  await run('create deployment web --image=nginx --replicas=3');
  await run('rollout status deployment/web --timeout=120s');
  await run('set env deployment/web VERSION=2');
  await first.end();
  await run('rollout status deployment/web --timeout=120s');
  expect(await holder()).not.toBe(before);
  expect(Number(await lease('{.spec.leaseTransitions}'))).toBeGreaterThan(0);
  await expectOnce('web', { revisions: 2, pods: 3 });
  expect(await read('events -n kube-system', '{.items[?(@.reason=="LeaderElection")].message}')).toMatch(
    /_\S+ became leader$/,
  );
  await endAll();
});

(redisServer ? it : it.skip)(
  '--work-queue=bullmq: a rollout goes on while one replica is killed and another stands still',
  async () => {
    const redis = await RedisServer.start(redisServer ?? '', ['--appendonly', 'no']);
    try {
      const shared = ['work-queue=bullmq', `redis=${redis.url}`];
      const [killed, stopped] = [startManager(shared), startManager(shared), startManager(shared)];
      for (const app of ['a', 'b', 'c']) await run(`create deployment ${app} --image=nginx --replicas=3`);
      for (const app of ['a', 'b', 'c']) await run(`rollout status deployment/${app} --timeout=120s`);
      for (const app of ['a', 'b', 'c']) await run(`set env deployment/${app} VERSION=2`);
      stopped?.signal('SIGSTOP');
      await killed?.end();
      startManager(shared);
      for (const app of ['a', 'b']) await run(`rollout status deployment/${app} --timeout=120s`);
      stopped?.signal('SIGCONT');
      await run('rollout status deployment/c --timeout=120s');
      for (const app of ['a', 'b', 'c']) await expectOnce(app, { revisions: 2, pods: 3 });
      expect(await holder()).not.toBe('');
    } finally {
      await endAll();
      await redis.remove();
    }
  },
);
