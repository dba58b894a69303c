import { Events, Nodes } from '@tinkernetes/api';
import { createClient, type Client } from '@tinkernetes/client';
import { eventually } from '@tinkernetes/component-base/testing';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';
import { startManager, type StartedManager } from './testing/test-manager';

describe('node-ipam-controller with two ranges of three blocks', () => {
  let server: TestApiServer;
  let client: Client;
  let manager: StartedManager | undefined;
  const start = async () => {
    manager = startManager(server, {
      args: [
        '--controllers=node-ipam-controller',
        '--allocate-node-cidrs',
        '--cluster-cidr=10.9.0.0/22,fd09::/62',
        '--service-cluster-ip-range=10.9.3.0/24,fd09:0:0:3::/112',
      ],
    });
    await manager.ready;
  };

  beforeAll(async () => {
    server = await startApiServer();
    client = createClient(server.adminConfig);
  });
  afterAll(async () => {
    await manager?.stop();
    client?.close();
    await server?.stop();
  });

  const create = (name: string, podCIDRs?: string[]) =>
    client.for(Nodes).create({ metadata: { name }, spec: { podCIDRs } });
  const cidrsOf = async (name: string) => (await client.for(Nodes).get(name)).spec;
  const has = (name: string, block: number) => {
    const podCIDR = `10.9.${block}.0/24`;
    const podCIDRs = [podCIDR, block === 0 ? 'fd09::/64' : `fd09:0:0:${block}::/64`];
    return eventually(async () => expect(await cidrsOf(name)).toMatchObject({ podCIDR, podCIDRs }));
  };
  const complaints = async (name: string) => {
    const { items } = await client.for(Events).list({ fieldSelector: `involvedObject.name=${name}` });
    return items.map(({ type, reason, message }) => [type, reason, message]);
  };

  it('leaves what a node has at its start, and gives the others blocks of both families', async () => {
    await create('old', ['10.9.0.0/24', 'fd09::/64']);
    await create('a');
    await start();
    await has('a', 1);
    await create('b');
    await has('b', 2);
    await has('old', 0);
  });

  it('says on a node that there is no block left, and gives it one when another node is deleted', async () => {
    await create('c');
    await eventually(async () =>
      expect(await complaints('c')).toContainEqual([
        'Normal',
        'CIDRNotAvailable',
        'Node c status is now: CIDRNotAvailable',
      ]),
    );
    expect((await cidrsOf('c')).podCIDRs).toBeUndefined();
    await client.for(Nodes).delete('a');
    await has('c', 1);
  });

  it('knows after a restart which blocks are taken', async () => {
    await manager?.stop();
    await client.for(Nodes).delete('old');
    await create('d');
    await start();
    await has('d', 0);
    await has('b', 2);
    await has('c', 1);
  });
});
