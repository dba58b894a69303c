import { createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { CustomResourceDefinitions, type KubeObject, type ResourceDescriptor } from '@tinkernetes/api';
import { createClient } from '@tinkernetes/client';
import { eventually } from '@tinkernetes/component-base/testing';
import { startApiServer } from '@tinkernetes/testing';

const lamps = (version: string): ResourceDescriptor<KubeObject> => ({
  group: 'light.test',
  version,
  resource: 'lamps',
  kind: 'Lamp',
  namespaced: false,
});
const version = (name: string, storage: boolean) => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: { type: 'object' } },
});

// Well under the 30 seconds that a webhook has to answer.
it('does not let a conversion webhook that never answers hold up the end of the server', async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => sockets.push(socket.on('error', () => socket.destroy())));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const server = await startApiServer();
  const client = createClient(server.adminConfig);
  try {
    const url = `https://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
    await client.for(CustomResourceDefinitions).create({
      metadata: { name: 'lamps.light.test' },
      spec: {
        group: 'light.test',
        scope: 'Cluster',
        names: { plural: 'lamps', kind: 'Lamp' },
        versions: [version('v1', true), version('v2', false)],
        conversion: {
          strategy: 'Webhook',
          webhook: { conversionReviewVersions: ['v1'], clientConfig: { url } },
        },
      },
    });
    await eventually(() => client.for(lamps('v1')).create({ metadata: { name: 'desk' } } as never));
    const asked = client
      .for(lamps('v2'))
      .get('desk')
      .catch((error: unknown) => error);
    await eventually(() => expect(sockets.length).toBeGreaterThan(0));
    await server.stop();
    expect(await asked).toHaveProperty('message');
  } finally {
    client.close();
    await server.stop();
    for (const socket of sockets) socket.destroy();
    silent.close();
  }
});
