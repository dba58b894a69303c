import { Pods } from '@tinkernetes/api';
import { isNotFound } from '@tinkernetes/apimachinery';
import { eventually } from '@tinkernetes/component-base/testing';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KubeletFixture, nodeName } from './testing/kubelet-fixture';

const manifest = (image: string) => `
apiVersion: v1
kind: Pod
metadata:
  name: web
  labels: { tier: node }
spec:
  hostNetwork: true
  terminationGracePeriodSeconds: 1
  containers:
    - name: static-main
      image: ${image}
`;

describe('static pods', () => {
  let kubelet: KubeletFixture;
  let file: string;
  const name = `web-${nodeName}`;

  beforeAll(async () => {
    kubelet = await KubeletFixture.create();
    const directory = join(kubelet.directory, 'manifests');
    await mkdir(directory);
    file = join(directory, 'web.yaml');
    await writeFile(file, manifest('busybox:1'));
    await writeFile(join(directory, 'bad.yaml'), 'kind: Pod\nmetadata: [');
    await writeFile(
      join(directory, 'refers.yaml'),
      manifest('busybox:1')
        .replace('name: web', 'name: refers')
        .replace('spec:', 'spec:\n  serviceAccountName: sa'),
    );
    await kubelet.start([`--pod-manifest-path=${directory}`]);
    await kubelet.assignPodCIDR();
  });
  afterAll(() => kubelet.close());

  it('run and are shown by a mirror pod with their status', async () => {
    const mirror = await kubelet.phase(name, 'Running');
    expect(mirror.metadata.annotations).toMatchObject({ 'kubernetes.io/config.source': 'file' });
    expect(mirror.metadata.annotations?.['kubernetes.io/config.mirror']).toBe(
      mirror.metadata.annotations?.['kubernetes.io/config.hash'],
    );
    expect(mirror.metadata.ownerReferences?.[0]).toMatchObject({ kind: 'Node', name: nodeName });
    expect(mirror.status?.containerStatuses?.[0]).toMatchObject({ name: 'static-main', ready: true });
    // Of the three manifests one is broken, and one needs what a node without an API server has not.
    const { items } = await kubelet.client.for(Pods).list({ namespace: 'default' });
    expect(items.map((pod) => pod.metadata.name)).toEqual([name]);
  });

  it('keep running when the mirror is deleted, and get a new one', async () => {
    const before = await kubelet.get(name);
    const id = kubelet.runtime.container('static-main')?.id;
    await kubelet.client.for(Pods).delete(name, { namespace: 'default', gracePeriodSeconds: 0 });
    await eventually(async () =>
      expect((await kubelet.get(name)).metadata.uid).not.toBe(before.metadata.uid),
    );
    expect(kubelet.runtime.container('static-main')).toMatchObject({ id, state: 'CONTAINER_RUNNING' });
    expect((await kubelet.phase(name, 'Running')).metadata.uid).not.toBe(before.metadata.uid);
  });

  it('are replaced when the manifest changes and end when it goes', async () => {
    await writeFile(file, manifest('busybox:2'));
    await eventually(() => kubelet.runtime.container('static-main')?.config.image?.image === 'busybox:2');
    await rm(file);
    await eventually(async () => {
      const gone = await kubelet.get(name).catch((error: unknown) => error);
      expect(isNotFound(gone)).toBe(true);
    });
    await eventually(() => kubelet.runtime.sandboxes.size === 0);
  });
});
