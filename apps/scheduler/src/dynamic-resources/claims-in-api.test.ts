import {
  DeviceClasses,
  Pods,
  ResourceClaims,
  ResourceSlices,
  type DeviceClass,
  type PodSpec,
  type ResourceSlice,
  type ResourceV1ResourceClaim as ResourceClaim,
} from '@tinkernetes/api';
import { createClient, type Client } from '@tinkernetes/client';
import { eventually, type StartedComponent } from '@tinkernetes/component-base/testing';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';
import { createPod, createReadyNode, getPod } from '../testing/api-objects';
import { startScheduler } from '../testing/running-scheduler';

describe('ResourceClaims in a real API server', () => {
  let server: TestApiServer;
  let client: Client;
  let scheduler: StartedComponent;
  const namespace = 'default';
  const claimNamed = (name: string) => client.for(ResourceClaims).get(name, { namespace });

  beforeAll(async () => {
    server = await startApiServer({ flags: ['--disable-admission-plugins=ServiceAccount'] });
    client = createClient(server.adminConfig);
    await createReadyNode(client, 'node-1');
    await createReadyNode(client, 'node-2');
    await client.for(DeviceClasses).create({
      metadata: { name: 'gpu' },
      spec: { selectors: [{ cel: { expression: 'device.driver == "gpu.example.com"' } }] },
    } as DeviceClass);
    const spec = {
      driver: 'gpu.example.com',
      nodeName: 'node-2',
      pool: { name: 'node-2', generation: 1, resourceSliceCount: 1 },
      devices: [{ name: 'gpu-0' }],
    };
    await client.for(ResourceSlices).create({ metadata: { name: 'node-2-gpus' }, spec } as ResourceSlice);
    const config = await server.configFor('system:kube-scheduler');
    scheduler = await startScheduler(config, ['--leader-elect=false']);
  });
  afterAll(async () => {
    await scheduler.stop();
    client.close();
    await server.stop();
  });

  const createClaim = (name: string) =>
    client.for(ResourceClaims).create(
      {
        metadata: { name },
        spec: { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu' } }] } },
      } as ResourceClaim,
      { namespace },
    );
  const using = (claim: string): Partial<PodSpec> => ({
    resourceClaims: [{ name: 'gpu', resourceClaimName: claim }],
  });

  it('are allocated and reserved before the Pod is bound, shared by Pods, and their devices given to one claim', async () => {
    await createClaim('first');
    await createPod(client, 'one', using('first'));
    await createPod(client, 'two', using('first'));
    for (const name of ['one', 'two'])
      await eventually(async () => expect((await getPod(client, name)).spec?.nodeName).toBe('node-2'));
    const first = await claimNamed('first');
    expect(first.metadata.finalizers).toEqual(['resource.kubernetes.io/delete-protection']);
    expect(first.status?.allocation).toEqual({
      devices: {
        results: [{ request: 'gpu', driver: 'gpu.example.com', pool: 'node-2', device: 'gpu-0' }],
      },
      nodeSelector: {
        nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-2'] }] }],
      },
    });
    expect(first.status?.reservedFor?.map(({ resource, name }) => `${resource}/${name}`).sort()).toEqual([
      'pods/one',
      'pods/two',
    ]);
    await createClaim('second');
    await createPod(client, 'three', using('second'));
    await eventually(async () =>
      expect((await getPod(client, 'three')).status?.conditions?.[0]?.message).toBe(
        '0/2 nodes are available: 2 cannot allocate all claims. still not schedulable, ' +
          'preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.',
      ),
    );
  });

  it('wake the Pods that wait for a device once it is given back', async () => {
    await client.for(Pods).delete('one', { namespace, gracePeriodSeconds: 0 });
    await client.for(Pods).delete('two', { namespace, gracePeriodSeconds: 0 });
    // What the controller does when nobody uses a claim any more.
    await client.for(ResourceClaims).updateStatus({ ...(await claimNamed('first')), status: {} });
    await eventually(async () => expect((await getPod(client, 'three')).spec?.nodeName).toBe('node-2'));
    expect((await claimNamed('second')).status?.reservedFor).toMatchObject([{ name: 'three' }]);
  });
});
