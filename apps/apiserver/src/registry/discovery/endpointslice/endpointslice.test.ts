import { EndpointSlices, type EndpointSlice } from '@tinkernetes/api';
import { createClient, type Client } from '@tinkernetes/client';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';

describe('an EndpointSlice', () => {
  let server: TestApiServer;
  let client: Client;
  beforeAll(async () => {
    server = await startApiServer();
    client = createClient(server.adminConfig);
  });
  afterAll(async () => {
    client.close();
    await server.stop();
  });

  const where = { namespace: 'default' };
  const slice = (name: string, more: object = {}, endpoint: object = {}): EndpointSlice =>
    ({
      metadata: { name, ...more },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.0.0.1'], ...endpoint }],
      ports: [],
    }) as EndpointSlice;

  it.each<[string, object, object, number]>([
    ['nothing', {}, {}, 1],
    ['annotations', { annotations: { a: 'b' } }, {}, 1],
    ['labels', { labels: { a: 'b' } }, {}, 2],
    ['endpoints', {}, { hostname: 'h' }, 2],
    ['topology, which is dropped', {}, { deprecatedTopology: { zone: 'z' } }, 2],
  ])('has the generation of a change of %s', async (what, more, endpoint, generation) => {
    const slices = client.for(EndpointSlices);
    const name = what.replace(/\W.*/, '');
    await slices.create(slice(name), where);
    const updated = await slices.update(slice(name, more, endpoint) as never, where);
    expect(updated.metadata.generation).toBe(generation);
    expect(updated.endpoints?.[0]).not.toHaveProperty('deprecatedTopology');
  });
});
