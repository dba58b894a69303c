import { PersistentVolumeClaims, Pods } from '@tinkernetes/api';
import { createClient, loadKubeconfig, type Client } from '@tinkernetes/client';
import { eventually } from '@tinkernetes/component-base/testing';
import { startCluster, type RunningCluster } from '../start-cluster';

const namespace = 'default';

let cluster: RunningCluster | undefined;
let client: Client;
beforeAll(async () => {
  cluster = await startCluster({ nodes: 1 });
  client = createClient(await loadKubeconfig(cluster.kubeconfigFile, { userAgent: 'test' }));
});
afterAll(async () => {
  client?.close();
  await cluster?.stop();
});

it('gives a claim that names no class a volume once a Pod uses it', async () => {
  const claims = client.for(PersistentVolumeClaims);
  const resources = { requests: { storage: '1Gi' } };
  await claims.create(
    { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources } },
    { namespace },
  );
  await client.for(Pods).create(
    {
      metadata: { name: 'writer' },
      spec: {
        restartPolicy: 'Never',
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
        containers: [
          {
            name: 'main',
            image: 'busybox',
            command: ['sh', '-c', 'echo kept > /data/file && cat /data/file'],
            volumeMounts: [{ name: 'data', mountPath: '/data' }],
          },
        ],
      },
    },
    { namespace },
  );
  await eventually(
    async () => {
      const pod = await client.for(Pods).get('writer', { namespace });
      expect(pod.status?.phase).toBe('Succeeded');
    },
    { timeoutMs: 60_000 },
  );
  const claim = await claims.get('data', { namespace });
  expect(claim).toMatchObject({ spec: { storageClassName: 'standard' }, status: { phase: 'Bound' } });
});
