import { APIServices, Namespaces, Nodes, Pods, type Pod } from '@tinkernetes/api';
import { isNotFound } from '@tinkernetes/apimachinery';
import { createClient, type Client } from '@tinkernetes/client';
import { eventually } from '@tinkernetes/component-base/testing';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';
import { startFakeKubelet, type FakeKubelet } from '../proxy/testing/fake-kubelet';

const path = '/apis/metrics.k8s.io/v1beta1';
const time = '2026-01-02T03:04:05Z';
const used = (nanoCores: number, bytes: number) => ({
  cpu: { time, usageNanoCores: nanoCores },
  memory: { time, workingSetBytes: bytes },
});

describe('the metrics API', () => {
  let server: TestApiServer;
  let client: Client;
  let kubelet: FakeKubelet;
  let uid = '';

  beforeAll(async () => {
    [server, kubelet] = await Promise.all([
      startApiServer({ flags: ['--metrics-api', '--host-alias=172.30.0.0/16=127.0.0.1'] }),
      startFakeKubelet({
        summary: () => ({
          node: used(1_500_000_000, 3 * 1024 ** 3),
          pods: [
            {
              podRef: { name: 'web', namespace: 'default', uid },
              containers: [
                { name: 'main', ...used(250_000_001, 20 * 1024 ** 2) },
                { name: 'side', ...used(1_000_000, 4096) },
              ],
            },
          ],
        }),
      }),
    ]);
    client = createClient(server.adminConfig);
    if (!server.stores.for(Namespaces).peek('default'))
      await client.for(Namespaces).create({ metadata: { name: 'default' }, spec: {} });
    for (const name of ['n1', 'silent'])
      await client.for(Nodes).create({ metadata: { name, labels: { name } }, spec: {} });
    await server.stores.for(Nodes).modify('n1', undefined, (node) => ({
      ...node,
      status: {
        ...node.status,
        addresses: [{ type: 'InternalIP', address: '172.30.0.10' }],
        daemonEndpoints: { kubeletEndpoint: { Port: kubelet.port } },
      },
    }));
    uid = (await createPod('web', 'Running')).metadata.uid ?? '';
    await createPod('done', 'Succeeded');
  });
  afterAll(async () => {
    client.close();
    await Promise.all([server.stop(), kubelet.stop()]);
  });

  const createPod = async (name: string, phase: NonNullable<Pod['status']>['phase']): Promise<Pod> => {
    await server.stores.for(Pods).create({
      metadata: { name, namespace: 'default', labels: { app: name } },
      spec: { nodeName: 'n1', containers: [{ name: 'main', image: 'app:1' }] },
    });
    return server.stores.for(Pods).modify(name, 'default', (pod) => ({
      ...pod,
      status: { ...pod.status, phase },
    }));
  };
  const get = <T>(suffix: string, accept?: string): Promise<T> =>
    client.request<T>({
      method: 'GET',
      path: `${path}${suffix}`,
      ...(accept ? { headers: { accept } } : {}),
    });

  it('is discovered with its two resources', async () => {
    const { resources } = await get<{ resources: { name: string; kind: string; verbs: string[] }[] }>('');
    expect(resources.map(({ name, kind, verbs }) => [name, kind, verbs])).toEqual([
      ['nodes', 'NodeMetrics', ['get', 'list']],
      ['pods', 'PodMetrics', ['get', 'list']],
    ]);
  });

  it('shows what a node uses, and leaves out a node whose kubelet does not answer', async () => {
    const { items } = await get<{ items: object[] }>('/nodes');
    expect(items).toEqual([
      expect.objectContaining({
        metadata: expect.objectContaining({ name: 'n1', labels: { name: 'n1' } }) as unknown,
        timestamp: time,
        usage: { cpu: '1500m', memory: '3Gi' },
      }),
    ]);
  });

  it.each([
    ['/pods', ['web']],
    ['/namespaces/default/pods', ['web']],
    ['/namespaces/other/pods', []],
    ['/pods?labelSelector=app%3Dweb', ['web']],
    ['/pods?labelSelector=app%21%3Dweb', []],
    ['/pods?fieldSelector=metadata.name%3Dweb', ['web']],
    ['/pods?fieldSelector=metadata.name%3Ddone', []],
  ])('lists by namespace and selectors: %s → %j', async (suffix, names) => {
    const { items } = await get<{ items: Pod[] }>(suffix);
    expect(items.map(({ metadata }) => metadata.name)).toEqual(names);
  });

  it('shows each container of a Pod', async () => {
    expect(await get('/namespaces/default/pods/web')).toMatchObject({
      kind: 'PodMetrics',
      apiVersion: 'metrics.k8s.io/v1beta1',
      metadata: { name: 'web', namespace: 'default' },
      containers: [
        { name: 'main', usage: { cpu: '250000001n', memory: '20Mi' } },
        { name: 'side', usage: { cpu: '1m', memory: '4Ki' } },
      ],
    });
  });

  it.each(['/nodes/silent', '/nodes/none', '/namespaces/default/pods/done', '/namespaces/default/pods/none'])(
    'answers 404 where nothing is measured: %s',
    async (suffix) => {
      expect(isNotFound(await get(suffix).catch((error: unknown) => error))).toBe(true);
    },
  );

  it('sums the containers in a Table', async () => {
    const table = await get<{ columnDefinitions: { name: string }[]; rows: { cells: string[] }[] }>(
      '/pods',
      'application/json;as=Table;g=meta.k8s.io;v=v1',
    );
    expect(table.columnDefinitions.map(({ name }) => name)).toEqual(['Name', 'cpu', 'memory', 'Window']);
    expect(table.rows.map(({ cells }) => cells)).toEqual([['web', '251000001n', '20484Ki', '10s']]);
  });

  it('asks a kubelet once for what is wanted at the same time', async () => {
    const asked = () => kubelet.requests.filter((r) => r.includes('/stats/summary')).length;
    await get('/nodes');
    const before = asked();
    await Promise.all([get('/nodes'), get('/pods'), get('/namespaces/default/pods/web')]);
    expect(asked() - before).toBeLessThan(3);
  });

  it('gives way to an APIService that names a Service, and is there again when that is deleted', async () => {
    const services = client.for(APIServices);
    const name = 'v1beta1.metrics.k8s.io';
    const service = { namespace: 'kube-system', name: 'metrics-server', port: 443 };
    await services.patch(name, { spec: { service, insecureSkipTLSVerify: true } }, { type: 'merge' });
    await eventually(() => expect(get('/nodes')).rejects.toMatchObject({ code: 503 }));
    await services.delete(name);
    await eventually(async () => {
      expect((await services.get(name)).spec?.service).toBeUndefined();
      expect((await get<{ items: object[] }>('/nodes')).items).toHaveLength(1);
    });
  });
});
