import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { TLSSocket } from 'node:tls';
import { eventually } from '@tinkernetes/component-base/testing';
import { createSelfSignedCertificate } from '@tinkernetes/pki';
import { CommandLineClient } from '../harness/clients';
import { ClusterProcess } from '../harness/cluster-process';

const group = 'sights.example.com';
const groupVersion = `${group}/v1`;
const kind = 'Flare';

const flare = (name: string, color: string) => ({
  apiVersion: groupVersion,
  kind,
  metadata: { name, namespace: 'default', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  color,
});
const flares = [flare('north', 'red'), flare('south', 'green')];

const flareSchema = {
  type: 'object',
  description: 'Flare is seen from afar.',
  properties: { color: { type: 'string', description: 'What it looks like.' } },
  'x-kubernetes-group-version-kind': [{ group, version: 'v1', kind }],
};
const collection = `/apis/${groupVersion}/namespaces/default/flares`;
const documents: Readonly<Record<string, object>> = {
  [`/apis/${groupVersion}`]: {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion,
    resources: [
      {
        name: 'flares',
        singularName: 'flare',
        namespaced: true,
        kind,
        verbs: ['get', 'list'],
        shortNames: ['fl'],
      },
    ],
  },
  [collection]: {
    kind: 'FlareList',
    apiVersion: groupVersion,
    metadata: { resourceVersion: '1' },
    items: flares,
  },
  [`${collection}/north`]: flares[0] ?? {},
  '/openapi/v3': {
    paths: { [`apis/${groupVersion}`]: { serverRelativeURL: `/openapi/v3/apis/${groupVersion}?hash=1` } },
  },
  [`/openapi/v3/apis/${groupVersion}`]: {
    openapi: '3.0.0',
    info: { title: 'flares', version: 'v1' },
    paths: {
      [`/apis/${groupVersion}/namespaces/{namespace}/flares`]: {
        get: { 'x-kubernetes-group-version-kind': { group, version: 'v1', kind }, responses: {} },
      },
    },
    components: { schemas: { 'com.example.sights.v1.Flare': flareSchema } },
  },
};

/** A server of flares that believes only the cluster's front proxy, and notes whom that names. */
async function startFlareServer(frontProxyCa: string, users: Set<string>): Promise<Server> {
  const pair = await createSelfSignedCertificate({
    commonName: 'flares',
    dnsNames: ['flares.default.svc'],
    usages: ['serverAuth'],
    now: Date.now(),
  });
  const server = createServer(
    { cert: pair.certificate, key: pair.key, ca: frontProxyCa, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      const trusted = request.socket instanceof TLSSocket && request.socket.authorized;
      users.add(String(request.headers['x-remote-user']));
      const document = documents[new URL(request.url ?? '/', 'https://flares').pathname];
      const code = trusted ? (document ? 200 : 404) : 401;
      response.writeHead(code, { 'content-type': 'application/json' });
      response.end(JSON.stringify(code === 200 ? document : { kind: 'Status', apiVersion: 'v1', code }));
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return server;
}

describe('kubectl with an API of another server', () => {
  let cluster: ClusterProcess | undefined;
  let kubectl: CommandLineClient;
  let server: Server | undefined;
  const users = new Set<string>();
  beforeAll(async () => {
    cluster = await ClusterProcess.start(['--ephemeral', '--nodes=0']);
    kubectl = new CommandLineClient('kubectl', '35', cluster.kubeconfig);
    // As aggregated servers learn whom to believe. It is published after the API server has become ready.
    const { data } = await eventually(() =>
      kubectl.json<{ data: Record<string, string> }>([
        ...['get', 'configmap', 'extension-apiserver-authentication', '--namespace=kube-system'],
      ]),
    );
    server = await startFlareServer(data['requestheader-client-ca-file'] ?? '', users);
  });
  afterAll(async () => {
    server?.close();
    server?.closeAllConnections();
    await cluster?.stopAndRemove();
  });

  const manifest = () => [
    { apiVersion: 'v1', kind: 'Service', metadata: { name: 'flares' }, spec: { ports: [{ port: 443 }] } },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'flares', labels: { 'kubernetes.io/service-name': 'flares' } },
      addressType: 'IPv4',
      // An address of the emulated network between machines, which is this one.
      endpoints: [{ addresses: ['172.30.0.1'], conditions: { ready: true } }],
      ports: [{ name: '', port: (server?.address() as AddressInfo).port, protocol: 'TCP' }],
    },
    {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: `v1.${group}` },
      spec: {
        group,
        version: 'v1',
        groupPriorityMinimum: 100,
        versionPriority: 100,
        insecureSkipTLSVerify: true,
        service: { namespace: 'default', name: 'flares' },
      },
    },
  ];
  const listOf = (items: object[]) => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });

  it('finds it, lists it and explains it, as the user', async () => {
    await kubectl.run(['apply', '-f', '-'], { input: listOf(manifest()) });
    await kubectl.run(['wait', '--for=condition=Available', '--timeout=120s', `apiservice/v1.${group}`]);
    expect(await kubectl.run(['get', 'apiservice', `v1.${group}`])).toMatch(/default\/flares +True/);
    await eventually(async () =>
      expect(await kubectl.run(['api-resources', `--api-group=${group}`])).toMatch(/flares +fl +sights/),
    );
    expect(await kubectl.run(['get', 'fl', '-o', 'name'])).toBe(
      `flare.${group}/north\nflare.${group}/south\n`,
    );
    expect(await kubectl.run(['get', 'flare', 'north', '-o', 'jsonpath={.color}'])).toBe('red');
    await eventually(async () =>
      expect(await kubectl.run(['explain', 'flare.color'])).toContain('What it looks like.'),
    );
    // Controllers find the new API, too, each in its own name and at a time of its own.
    const others = [...users].filter((user) => !user.startsWith('system:serviceaccount:kube-system:'));
    expect(others.sort()).toEqual(['kubernetes-admin', 'system:kube-aggregator']);
  });

  it('is told when it is away', async () => {
    await kubectl.run(['delete', 'endpointslice', 'flares']);
    await eventually(async () =>
      expect(await kubectl.run(['get', 'apiservice', `v1.${group}`])).toContain('False (EndpointsNotFound)'),
    );
    const { code, stderr } = await kubectl.try(['get', '--raw', collection]);
    expect(code).toBe(1);
    expect(stderr).toContain('the server is currently unable to handle the request');
    await kubectl.run(['get', 'namespaces']);
    await kubectl.run(['delete', 'apiservice', `v1.${group}`]);
  });
});
