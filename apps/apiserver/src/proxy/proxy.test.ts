import { createServer, type Server } from 'node:http';
import * as https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { EndpointSlices, Namespaces, Nodes, Pods, ServiceAccounts, Services } from '@tinkernetes/api';
import { createClient, type Client } from '@tinkernetes/client';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';
import { startFakeKubelet, type FakeKubelet } from './testing/fake-kubelet';

const namespace = 'default';
const podPath = `/api/v1/namespaces/${namespace}/pods`;

describe('requests that go on to kubelets and Pods', () => {
  let server: TestApiServer;
  let client: Client;
  let kubelet: FakeKubelet;
  let backend: Server;
  let backendPort: number;

  beforeAll(async () => {
    [server, kubelet] = await Promise.all([
      startApiServer({ flags: ['--host-alias=172.30.0.0/16=127.0.0.1'] }),
      startFakeKubelet(),
    ]);
    client = createClient(server.adminConfig);
    backend = createServer((request, response) => {
      if (request.url === '/moved') response.writeHead(302, { location: '/elsewhere' }).end();
      else response.end(`${request.method ?? ''} ${request.url ?? ''}`);
    });
    await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', () => resolve()));
    backendPort = (backend.address() as AddressInfo).port;
    await seed();
  });
  afterAll(async () => {
    client.close();
    backend.close();
    backend.closeAllConnections();
    await Promise.all([server.stop(), kubelet.stop()]);
  });

  async function seed(): Promise<void> {
    await client.for(Nodes).create({ metadata: { name: 'n1' }, spec: {} });
    await server.stores.for(Nodes).modify('n1', undefined, (node) => ({
      ...node,
      status: {
        ...node.status,
        addresses: [{ type: 'InternalIP', address: '172.30.0.10' }],
        daemonEndpoints: { kubeletEndpoint: { Port: kubelet.port } },
      },
    }));
    if (!server.stores.for(Namespaces).peek(namespace)) {
      await client.for(Namespaces).create({ metadata: { name: namespace }, spec: {} });
    }
    await client.for(ServiceAccounts).create({ metadata: { name: 'default' } }, { namespace });
    const containers = [
      { name: 'main', image: 'app:1', ports: [{ containerPort: backendPort }] },
      { name: 'waiting', image: 'app:1' },
    ];
    const pods = client.for(Pods);
    await pods.create({ metadata: { name: 'web' }, spec: { nodeName: 'n1', containers } }, { namespace });
    await pods.create(
      { metadata: { name: 'new' }, spec: { containers: [{ name: 'c', image: 'app:1' }] } },
      { namespace },
    );
    await server.stores.for(Pods).modify('web', namespace, (pod) => ({
      ...pod,
      status: { ...pod.status, podIP: '10.244.0.5' },
    }));
    await client
      .for(Services)
      .create(
        { metadata: { name: 'svc' }, spec: { ports: [{ name: 'http', port: 80, targetPort: backendPort }] } },
        { namespace },
      );
    await client.for(EndpointSlices).create(
      {
        metadata: { name: 'svc-1', labels: { 'kubernetes.io/service-name': 'svc' } },
        addressType: 'IPv4',
        ports: [{ name: 'http', port: backendPort }],
        endpoints: [{ addresses: ['10.244.0.5'], nodeName: 'n1', conditions: { ready: true } }],
      },
      { namespace },
    );
  }

  const text = (path: string) => client.requestText({ method: 'GET', path });
  const message = (path: string) => text(path).then(String, (error: Error) => error.message);

  it('streams logs and passes their options on', async () => {
    expect(await text(`${podPath}/web/log?container=main&follow=true&tailLines=5&pretty=1`)).toBe(
      'one\ntwo\n',
    );
    expect(kubelet.requests).toContain('GET /containerLogs/default/web/main?follow=true&tailLines=5');
    expect(kubelet.headers().authorization).toBeUndefined();
  });

  it.each([
    ['web/log', 'a container name must be specified for pod web, choose one of: [main waiting]'],
    ['web/log?container=none', 'container none is not valid for pod web'],
    ['web/log?container=waiting', 'container "waiting" in pod "web" is waiting to start: ContainerCreating'],
    [
      'web/log?container=main&tailLines=-1',
      'PodLogOptions "web" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
    ],
    ['new/log', ''],
    ['new/log?tailLines=x', 'strconv.ParseInt: parsing "x": invalid syntax'],
    [
      'new/log?sinceTime=noon',
      'parsing time "noon" as "2006-01-02T15:04:05Z07:00": cannot parse "noon" as "2006"',
    ],
    ['new/log?stream=Stdout', 'PodLogOptions "new" is invalid: stream: Forbidden: may not be specified'],
    [
      'new/log?sinceSeconds=5&sinceTime=2020-01-01T00:00:00Z',
      'PodLogOptions "new" is invalid: []: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified',
    ],
    ['none/log', 'pods "none" not found'],
    ['new/exec?command=sh&container=none', 'container none is not valid for pod new'],
    ['new/portforward?ports=x', 'cannot convert to []int32: strconv.ParseUint: parsing "x": invalid syntax'],
    ['new/exec?command=sh', 'pod new does not have a host assigned'],
    ['web/exec?command=sh&container=main', 'Upgrade request required'],
  ])('answers GET pods/%s with %j', async (path, expected) => {
    expect(await message(`${podPath}/${path}`)).toBe(expected);
  });

  it("passes an upgraded exec on byte for byte, without the client's credentials", async () => {
    const socket = await upgrade(
      `${podPath}/web/exec?container=main&command=sh&command=-c&stdin=true&stdout=1&tty=false`,
    );
    const echoed = new Promise((resolve) =>
      socket.once('data', (data: Buffer) => resolve(data.toString('hex'))),
    );
    socket.write(Buffer.from('00ff10', 'hex'));
    expect(await echoed).toBe('00ff10');
    socket.destroy();
    expect(kubelet.requests).toContain('GET /exec/default/web/main?input=1&output=1&command=sh&command=-c');
    expect(kubelet.headers()['impersonate-user']).toBeUndefined();
  });

  it('refuses an upgrade to who may not, before anything is passed on', async () => {
    const before = kubelet.requests.length;
    const options = requestOptions(
      await server.configFor('bob'),
      `${podPath}/web/exec?container=main&command=sh`,
    );
    const status = await new Promise((resolve, reject) => {
      const request = https.request(options, (response) => resolve(response.statusCode));
      request.on('upgrade', () => reject(new Error('upgraded')));
      request.on('error', reject);
      request.end();
    });
    expect(status).toBe(403);
    expect(kubelet.requests).toHaveLength(before);
  });

  it("reaches Pods and Services through the kubelet's tunnel", async () => {
    expect(await text(`${podPath}/web/proxy/a/b?c=d`)).toBe('GET /a/b?c=d');
    expect(await text(`/api/v1/namespaces/${namespace}/services/svc:http/proxy/x`)).toBe('GET /x');
    expect(await text(`/api/v1/namespaces/${namespace}/services/svc/proxy/`)).toBe('GET /');
    expect(await message(`/api/v1/namespaces/${namespace}/services/svc:other/proxy/`)).toBe(
      'no endpoints available for service "svc"',
    );
    expect(await message(`/api/v1/namespaces/${namespace}/services/svc:81/proxy/`)).toBe(
      'no service port 81 found for service "svc"',
    );
  });

  it('leads redirects back through itself', async () => {
    const { response } = await raw(`${podPath}/web/proxy/moved`);
    expect([response.statusCode, response.headers.location]).toEqual([302, `${podPath}/web/proxy/elsewhere`]);
  });

  it('passes node paths on to the kubelet', async () => {
    expect(await text('/api/v1/nodes/n1/proxy/metrics')).toBe('one\ntwo\n');
    expect(kubelet.requests).toContain('GET /metrics');
  });

  function requestOptions(config: { caData?: string; certData?: string; keyData?: string }, path: string) {
    return {
      host: '127.0.0.1',
      port: server.port,
      path,
      ca: config.caData,
      cert: config.certData,
      key: config.keyData,
      agent: false as const,
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'a',
      },
    };
  }

  function upgrade(path: string): Promise<Duplex> {
    return new Promise((resolve, reject) => {
      const request = https.request(requestOptions(server.adminConfig, path));
      request.on('upgrade', (_response, socket: Duplex) => resolve(socket));
      request.on('response', (response) => reject(new Error(`not upgraded: ${response.statusCode ?? 0}`)));
      request.on('error', reject);
      request.end();
    });
  }

  function raw(path: string): Promise<{ response: import('node:http').IncomingMessage }> {
    return new Promise((resolve, reject) => {
      const { headers: _, ...options } = requestOptions(server.adminConfig, path);
      const request = https.request(options, (response) => {
        response.resume();
        resolve({ response });
      });
      request.on('error', reject);
      request.end();
    });
  }
});
