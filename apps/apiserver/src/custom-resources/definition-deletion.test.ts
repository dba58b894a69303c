import {
  CustomResourceDefinitions,
  Namespaces,
  type KubeObject,
  type ResourceDescriptor,
} from '@tinkernetes/api';
import { createClient, type Client } from '@tinkernetes/client';
import { eventually } from '@tinkernetes/component-base/testing';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';

const group = 'light.test';
const lamps: ResourceDescriptor<KubeObject> = {
  group,
  version: 'v1',
  resource: 'lamps',
  kind: 'Lamp',
  namespaced: true,
};
const namespace = { namespace: 'default' };
const definitionName = `lamps.${group}`;

describe('the deletion of a CustomResourceDefinition', () => {
  let server: TestApiServer;
  let client: Client;
  beforeAll(async () => {
    server = await startApiServer();
    client = createClient(server.adminConfig);
    if (!server.stores.for(Namespaces).peek('default')) {
      await client.for(Namespaces).create({ metadata: { name: 'default' }, spec: {} });
    }
  });
  afterAll(async () => {
    client.close();
    await server.stop();
  });

  const define = async () => {
    await client.for(CustomResourceDefinitions).create({
      metadata: { name: definitionName },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'lamps', kind: 'Lamp' },
        versions: [
          { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
        ],
      },
    });
    await eventually(() => client.for(lamps).list(namespace));
  };
  const isGone = () =>
    eventually(() =>
      expect(client.for(CustomResourceDefinitions).get(definitionName)).rejects.toMatchObject({ code: 404 }),
    );

  it('waits for the instances that finalizers hold, which can be changed but not joined', async () => {
    await define();
    await client.for(lamps).create({ metadata: { name: 'free' } }, namespace);
    await client.for(lamps).create({ metadata: { name: 'held', finalizers: ['light.test/off'] } }, namespace);
    await client.for(CustomResourceDefinitions).delete(definitionName);
    await eventually(async () => {
      const { status } = await client.for(CustomResourceDefinitions).get(definitionName);
      expect(status?.conditions).toContainEqual(
        expect.objectContaining({
          type: 'Terminating',
          status: 'True',
          reason: 'InstanceDeletionInProgress',
        }),
      );
    });
    const { items } = await client.for(lamps).list(namespace);
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['held']);
    expect(items[0]?.metadata.deletionTimestamp).toBeDefined();
    await expect(client.for(lamps).create({ metadata: { name: 'late' } }, namespace)).rejects.toMatchObject({
      code: 403,
      message: `lamps.${group} "late" is forbidden: create not allowed while custom resource definition is terminating`,
    });
    const held = await client.for(lamps).get('held', namespace);
    await client.for(lamps).update({ ...held, metadata: { ...held.metadata, finalizers: [] } }, namespace);
    await isGone();
    await expect(client.for(lamps).list(namespace)).rejects.toMatchObject({ code: 404 });
  });

  it('is done at once without instances, and leaves nothing to a new one of the name', async () => {
    await define();
    expect((await client.for(lamps).list(namespace)).items).toEqual([]);
    await client.for(CustomResourceDefinitions).delete(definitionName);
    await isGone();
  });
});
