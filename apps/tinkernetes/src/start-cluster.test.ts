import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { KubeConfig, CoreV1Api } from '@kubernetes/client-node';
import { eventually } from '@tinkernetes/component-base/testing';
import { startCluster } from './start-cluster';

/** What of the network would keep a process alive; Jest's own pipes and timers are not counted. */
const openSockets = (): number =>
  process.getActiveResourcesInfo().filter((kind) => /TCP|UDP|TLS/.test(kind)).length;

it('runs clusters side by side, and leaves no socket and no file of them', async () => {
  const before = openSockets();
  const starting = [startCluster({ nodes: 1 }), startCluster({ nodes: 2 })];
  const clusters = (await Promise.allSettled(starting)).flatMap((r) =>
    r.status === 'fulfilled' ? r.value : [],
  );
  try {
    expect(clusters.length).toBe(2);
    expect(new Set(clusters.map(({ server }) => server)).size).toBe(2);
    const nodes = clusters.map(async ({ kubeconfig }) => {
      const config = new KubeConfig();
      config.loadFromString(kubeconfig);
      return (await config.makeApiClient(CoreV1Api).listNode()).items.length;
    });
    expect(await Promise.all(nodes)).toEqual([1, 2]);
  } finally {
    await Promise.all(clusters.map((cluster) => cluster.stop()));
  }
  expect(clusters.map(({ kubeconfigFile }) => existsSync(dirname(kubeconfigFile)))).toEqual([false, false]);
  await eventually(() => expect(openSockets()).toBeLessThanOrEqual(before));
}, 120_000);
