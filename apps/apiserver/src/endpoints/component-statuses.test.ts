import { createServer, type Server } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type Client } from '@tinkernetes/client';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';

describe('componentstatuses', () => {
  let folder: string;
  let server: TestApiServer;
  let client: Client;
  let scheduler: Server;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'health-'));
    const socket = join(folder, 's.sock');
    scheduler = createServer((_request, response) => response.end('ok'));
    await new Promise<void>((resolve) => scheduler.listen(socket, () => resolve()));
    server = await startApiServer({
      flags: [
        `--component-health=scheduler=unix:${socket}`,
        '--component-health=controller-manager=http://127.0.0.1:1/healthz',
      ],
    });
    client = createClient(server.adminConfig);
  });
  afterAll(async () => {
    client.close();
    scheduler.close();
    scheduler.closeAllConnections();
    await server.stop();
    await rm(folder, { recursive: true });
  });

  const path = '/api/v1/componentstatuses';
  const get = (more = '', headers: Record<string, string> = {}) =>
    client.request<Record<string, unknown>>({ method: 'GET', path: path + more, headers });
  const condition = (status: string, message: string) => [{ type: 'Healthy', status, message }];

  it('are asked of the components when somebody asks', async () => {
    expect(await get()).toMatchObject({
      kind: 'ComponentStatusList',
      items: [
        { metadata: { name: 'scheduler' }, conditions: condition('True', 'ok') },
        {
          metadata: { name: 'controller-manager' },
          conditions: condition(
            'False',
            'Get "http://127.0.0.1:1/healthz": dial tcp 127.0.0.1:1: connect: connection refused',
          ),
        },
        { metadata: { name: 'etcd-0' }, conditions: condition('True', 'ok') },
      ],
    });
    expect(await get('/scheduler')).toMatchObject({
      kind: 'ComponentStatus',
      metadata: { name: 'scheduler' },
    });
    await expect(get('/nobody')).rejects.toMatchObject({
      code: 404,
      message: 'componentstatus "nobody" not found',
    });
  });

  it('are printed as kubectl shows them', async () => {
    const table = await get('?fieldSelector=metadata.name%3Detcd-0', {
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    });
    expect(table.rows).toMatchObject([{ cells: ['etcd-0', 'Healthy', 'ok', ''] }]);
  });
});
