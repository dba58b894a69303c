import type { Client } from '@tinkernetes/client';
import { createMetrics, createStepTracer, realClock, realRandom } from '@tinkernetes/component-base';
import { silentLogger } from '@tinkernetes/component-base/testing';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Options } from '../options';
import { KubeletEndpoint, type KubeletServer, type ServerDeps } from './endpoint';

describe('the HTTPS server that light nodes share', () => {
  let directory: string;
  let endpoint: KubeletEndpoint;
  let agent: Agent;
  let servers: KubeletServer[];
  const context = {
    signal: new AbortController().signal,
    clock: realClock,
    random: realRandom,
    logger: silentLogger,
    metrics: createMetrics(),
    tracer: createStepTracer({ component: 'kubelet' }),
    ready: () => undefined,
  };

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kubelet-endpoint-'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));
  beforeEach(async () => {
    endpoint = await create();
    agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
    servers = [];
  });
  afterEach(async () => {
    agent.destroy();
    for (const server of servers) await server.close();
  });

  const create = () =>
    KubeletEndpoint.create(
      {
        nodeName: 'node',
        nodeIPs: [],
        certDir: directory,
        clientCAFile: undefined,
        tlsCertFile: undefined,
        tlsPrivateKeyFile: undefined,
      },
      context,
    );

  async function listen(nodeName: string, port = 0): Promise<KubeletServer> {
    const options = { nodeName, port, address: '127.0.0.1' } as Options;
    const deps = { options, context, client: {} as Client } as ServerDeps;
    const server = await endpoint.listen(deps);
    servers.push(server);
    return server;
  }

  /** Asks without a certificate; whether it took the connection that was there. */
  const ask = (port: number) =>
    new Promise<{ code: number | undefined; reused: boolean }>((resolve, reject) => {
      const request = get({ host: '127.0.0.1', port, path: '/pods', agent }, (response) => {
        response.on('end', () => resolve({ code: response.statusCode, reused: request.reusedSocket }));
        response.resume();
      });
      request.on('error', reject);
    });

  it('keeps the idle connections of the others when the first node closes its port', async () => {
    const [first, second] = [await listen('node-0'), await listen('node-1')];
    expect(await ask(second.port)).toEqual({ code: 401, reused: false });
    await first.close();
    servers.shift();
    expect(await ask(second.port)).toEqual({ code: 401, reused: true });
  });

  it('serves a node after another found its port taken', async () => {
    const blocker = await listen('node-0');
    endpoint = await create();
    await expect(listen('node-1', blocker.port)).rejects.toThrow(/EADDRINUSE/);
    expect(await ask((await listen('node-2')).port)).toEqual({ code: 401, reused: false });
  });
});
