import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Resolver } from 'node:dns/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EndpointSlices, Services } from '@tinkernetes/api';
import { createClient, type Client } from '@tinkernetes/client';
import { eventually, startComponent, type StartedComponent } from '@tinkernetes/component-base/testing';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';
import { component } from './index';

describe('cluster-dns against an API server', () => {
  let api: TestApiServer;
  let client: Client;
  let directory: string;
  let dns: StartedComponent;
  const resolver = new Resolver({ timeout: 20_000, tries: 1 });

  beforeAll(async () => {
    api = await startApiServer();
    client = createClient(api.adminConfig);
    directory = await mkdtemp(join(tmpdir(), 'cluster-dns-'));
    const kubeconfig = join(directory, 'kubeconfig');
    await writeFile(kubeconfig, api.kubeconfig);
    const argv = [`--kubeconfig=${kubeconfig}`, '--bind-address=127.0.0.1', '--port=0', '--forward='];
    dns = await startComponent(component, argv);
    resolver.setServers([`127.0.0.1:${String(dns.info.port)}`]);
  });
  afterAll(async () => {
    await dns.stop();
    client.close();
    await api.stop();
    await rm(directory, { recursive: true });
  });

  it('answers for the API server itself', async () => {
    await eventually(async () =>
      expect(await resolver.resolve4('kubernetes.default.svc.cluster.local')).toEqual(['10.96.0.1']),
    );
  });

  it('follows Services and their endpoints as they come and go', async () => {
    const namespace = 'default';
    const web = await client.for(Services).create({
      metadata: { name: 'web', namespace },
      spec: { clusterIP: 'None', selector: { app: 'web' }, ports: [{ name: 'http', port: 80 }] },
    });
    const name = 'web.default.svc.cluster.local';
    await expect(resolver.resolve4(name)).rejects.toMatchObject({ code: 'ENOTFOUND' });
    await client.for(EndpointSlices).create({
      metadata: { name: 'web-1', namespace, labels: { 'kubernetes.io/service-name': 'web' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.244.1.2'], hostname: 'web-0', conditions: { ready: true } }],
      ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
    });
    await eventually(async () => expect(await resolver.resolve4(name)).toEqual(['10.244.1.2']));
    expect(await resolver.resolve4(`web-0.${name}`)).toEqual(['10.244.1.2']);
    expect(await resolver.resolveSrv(`_http._tcp.${name}`)).toMatchObject([
      { name: `web-0.${name}`, port: 80 },
    ]);
    expect(await resolver.reverse('10.244.1.2')).toEqual([`web-0.${name}`]);
    await client.for(Services).delete(web.metadata.name, { namespace });
    await eventually(() => expect(resolver.resolve4(name)).rejects.toMatchObject({ code: 'ENOTFOUND' }));
  });
});
