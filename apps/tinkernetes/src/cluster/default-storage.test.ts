import { PersistentVolumeClaims, Pods } from '@tinkernetes/api';
import { createClient, loadKubeconfig } from '@tinkernetes/client';
import { eventually } from '@tinkernetes/component-base/testing';
import { startCluster } from '../start-cluster';

const namespace = 'default';

it('gives a claim that names no class a volume once a Pod uses it', async () => {
  const cluster = await startCluster({ nodes: 1 });
  const client = createClient(await loadKubeconfig(cluster.kubeconfigFile, { userAgent: 'test' }));
  try {
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
  } finally {
    client.close();
    await cluster.stop();
  }
});
