import { request } from 'node:http';
import { duplexPair, PassThrough } from 'node:stream';
import type { EndpointSlice, Service, ServiceSpec } from '@tinkernetes/api';
import { eventually, silentLogger } from '@tinkernetes/component-base/testing';
import type { Lister } from '@tinkernetes/informers';
import type { ListenTarget, VnetClient } from '@tinkernetes/vnet';
import { HealthCheckNodePorts } from './health-check-node-ports';
import { healthChecks } from './health-checks';

describe('healthChecks', () => {
  const service = (spec: Partial<ServiceSpec>): Service => ({
    metadata: { name: 'web', namespace: 'default' },
    spec: { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 32_000, ...spec },
  });
  const slice: EndpointSlice = {
    metadata: { name: 'web-1', namespace: 'default' },
    addressType: 'IPv4',
    endpoints: [
      { addresses: ['10.244.1.2'], nodeName: 'node-1', conditions: { ready: true } },
      {
        addresses: ['10.244.1.3'],
        nodeName: 'node-1',
        conditions: { ready: false, serving: true, terminating: true },
      },
      { addresses: ['10.244.2.2'], nodeName: 'node-2', conditions: { ready: true } },
    ],
  };
  const slices = { byIndex: () => [slice] } as Partial<Lister<EndpointSlice>> as Lister<EndpointSlice>;

  it("counts this node's ready endpoints", () => {
    expect(healthChecks([service({})], slices, 'node-1')).toEqual([
      { port: 32_000, namespace: 'default', name: 'web', localEndpoints: 1 },
    ]);
    expect(healthChecks([service({})], slices, 'node-3')).toMatchObject([{ localEndpoints: 0 }]);
  });

  it.each<Partial<ServiceSpec>>([
    { externalTrafficPolicy: 'Cluster' },
    { type: 'NodePort' },
    { healthCheckNodePort: undefined },
  ])('has none for %j', (spec) => {
    expect(healthChecks([service(spec)], slices, 'node-1')).toEqual([]);
  });
});

describe('HealthCheckNodePorts', () => {
  const ports = new Map<number, PassThrough>();
  const vnet = {
    listen: ({ port, signal }: ListenTarget) => {
      const connections = new PassThrough({ objectMode: true });
      ports.set(port, connections);
      signal.addEventListener('abort', () => {
        ports.delete(port);
        connections.end();
      });
      return Promise.resolve({ address: { host: '172.30.0.11', port }, connections });
    },
  } as Partial<VnetClient> as VnetClient;
  const get = (port: number) =>
    new Promise<{ code: number; body: unknown }>((resolve, reject) => {
      const [near, far] = duplexPair();
      ports.get(port)?.write({ stream: far });
      const sent = request({ createConnection: () => near, path: '/healthz' }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () =>
          resolve({ code: response.statusCode ?? 0, body: JSON.parse(text) as unknown }),
        );
      });
      sent.on('error', reject);
      sent.end();
    });

  it('opens, answers and closes ports as Services come, change and go', async () => {
    let healthy = true;
    const signal = new AbortController().signal;
    const served = new HealthCheckNodePorts({ vnet, logger: silentLogger, signal, isHealthy: () => healthy });
    const check = { port: 32_000, namespace: 'default', name: 'web', localEndpoints: 2 };
    served.apply([check]);
    await eventually(() => expect(ports.has(32_000)).toBe(true));
    expect(await get(32_000)).toEqual({
      code: 200,
      body: { service: { namespace: 'default', name: 'web' }, localEndpoints: 2, serviceProxyHealthy: true },
    });
    served.apply([{ ...check, localEndpoints: 0 }]);
    expect((await get(32_000)).code).toBe(503);
    served.apply([check]);
    healthy = false;
    expect(await get(32_000)).toMatchObject({ code: 503, body: { serviceProxyHealthy: false } });
    served.apply([]);
    expect(ports.size).toBe(0);
  });
});
