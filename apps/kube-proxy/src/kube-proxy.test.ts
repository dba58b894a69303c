import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Server, ServerCredentials, type sendUnaryData, type ServerUnaryCall } from '@grpc/grpc-js';
import {
  EndpointSlices,
  Namespaces,
  NetworkPolicies,
  Nodes,
  Pods,
  ServiceAccounts,
  Services,
} from '@tinkernetes/api';
import { createClient, type Client } from '@tinkernetes/client';
import { eventually, startComponent, type StartedComponent } from '@tinkernetes/component-base/testing';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';
import { networkService, type Policy, type Route, type Rule } from '@tinkernetes/vnet';
import { component } from './index';

/** The part of a node's network that takes rules and routes. */
class RecordingNetwork {
  rules: Rule[] = [];
  routes: Route[] = [];
  policies: Policy[] = [];
  writes = 0;
  private readonly server = new Server();

  async listen(address: string): Promise<void> {
    type Call = ServerUnaryCall<{ rules: Rule[]; routes: Route[]; policies: Policy[] }, object>;
    const { setRules, setRoutes, setPolicies } = networkService();
    this.server.addService(
      { setRules, setRoutes, setPolicies },
      {
        setPolicies: ({ request }: Call, done: sendUnaryData<object>) => {
          this.policies = request.policies;
          done(null, {});
        },
        setRules: ({ request }: Call, done: sendUnaryData<object>) => {
          this.rules = request.rules;
          this.writes++;
          done(null, {});
        },
        setRoutes: ({ request }: Call, done: sendUnaryData<object>) => {
          this.routes = request.routes;
          done(null, {});
        },
      },
    );
    await new Promise<void>((resolve, reject) =>
      this.server.bindAsync(address, ServerCredentials.createInsecure(), (error) =>
        error ? reject(error) : resolve(),
      ),
    );
  }

  stop(): void {
    this.server.forceShutdown();
  }
}

describe('kube-proxy against an API server', () => {
  let api: TestApiServer;
  let client: Client;
  let directory: string;
  let proxy: StartedComponent;
  const network = new RecordingNetwork();

  beforeAll(async () => {
    api = await startApiServer();
    client = createClient(api.adminConfig);
    directory = await mkdtemp(join(tmpdir(), 'kube-proxy-'));
    const kubeconfig = join(directory, 'kubeconfig');
    await writeFile(kubeconfig, api.kubeconfig);
    const socket = `unix://${join(directory, 'vnet.sock')}`;
    const argv = [
      `--kubeconfig=${kubeconfig}`,
      '--hostname-override=node-1',
      `--vnet-endpoint=${socket}`,
      // Writes when there is something to write, at once, and only then.
      '--iptables-min-sync-period=0s',
      '--iptables-sync-period=1h',
    ];
    const starting = startComponent(component, argv);
    // The node's network may come up later than its proxy.
    await network.listen(socket);
    proxy = await starting;
  });
  afterAll(async () => {
    await proxy.stop();
    network.stop();
    client.close();
    await api.stop();
    await rm(directory, { recursive: true });
  });

  describe('with Pods', () => {
    const namespace = 'default';

    beforeAll(async () => {
      await client.for(Namespaces).create({ metadata: { name: 'other', labels: { team: 'b' } }, spec: {} });
      await client.for(ServiceAccounts).create({ metadata: { name: 'default' } }, { namespace });
      await client.for(ServiceAccounts).create({ metadata: { name: 'default' } }, { namespace: 'other' });
      const pod = async (name: string, where: string, ip: string) => {
        const containers = [{ name: 'main', image: 'nginx' }];
        const made = await client
          .for(Pods)
          .create({ metadata: { name, labels: { app: name } }, spec: { containers } }, { namespace: where });
        await client
          .for(Pods)
          .updateStatus({ ...made, status: { phase: 'Running', podIP: ip, podIPs: [{ ip }] } });
      };
      await pod('a', namespace, '10.244.0.2');
      await pod('b', 'other', '10.244.0.3');
    });

    it('follows NetworkPolicies and the Pods that they select', async () => {
      await client.for(NetworkPolicies).create({
        metadata: { name: 'only-b', namespace },
        spec: {
          podSelector: { matchLabels: { app: 'a' } },
          ingress: [{ from: [{ namespaceSelector: { matchLabels: { team: 'b' } } }] }],
        },
      });
      await eventually(() =>
        expect(network.policies).toMatchObject([
          {
            name: 'default/only-b',
            direction: 'INGRESS',
            subjects: ['10.244.0.2'],
            rules: [{ peers: [{ addresses: ['10.244.0.3'] }] }],
          },
        ]),
      );
      await client.for(NetworkPolicies).delete('only-b', { namespace });
      await eventually(() => expect(network.policies).toEqual([]));
    });

    it('lets Pods ask the name server where it is now', async () => {
      await client.for(NetworkPolicies).create({
        metadata: { name: 'dns', namespace },
        spec: {
          podSelector: {},
          policyTypes: ['Egress'],
          egress: [{ ports: [{ port: 53, protocol: 'UDP' }] }],
        },
      });
      const slice = (address: string) => ({
        metadata: {
          name: 'kube-dns',
          namespace: 'kube-system',
          labels: { 'kubernetes.io/service-name': 'kube-dns' },
        },
        addressType: 'IPv4' as const,
        endpoints: [{ addresses: [address] }],
        ports: [{ name: 'dns', protocol: 'UDP' as const, port: 4053 }],
      });
      const allowed = (address: string) =>
        eventually(() =>
          expect(network.policies.flatMap(({ rules }) => rules)).toContainEqual(
            expect.objectContaining({ peers: [expect.objectContaining({ addresses: [address] })] }),
          ),
        );
      await client.for(EndpointSlices).create(slice('172.30.0.1'));
      await allowed('172.30.0.1');
      await client.for(EndpointSlices).update(slice('172.30.0.2'));
      await allowed('172.30.0.2');
      await client.for(EndpointSlices).delete('kube-dns', { namespace: 'kube-system' });
      await client.for(NetworkPolicies).delete('dns', { namespace });
      await eventually(() => expect(network.policies).toEqual([]));
    });
  });

  const ruleOf = (name: string) => network.rules.find((rule) => rule.name === name);

  it('programs the API server own Service from the start', async () => {
    await eventually(() =>
      expect(ruleOf('default/kubernetes:https')).toMatchObject({ destinations: ['10.96.0.1'], port: 443 }),
    );
  });

  it('follows a Service and its endpoints', async () => {
    const namespace = 'default';
    const service = await client.for(Services).create({
      metadata: { name: 'web', namespace },
      spec: {
        type: 'NodePort',
        selector: { app: 'web' },
        ports: [{ port: 80, targetPort: 8080, nodePort: 30_080 }],
      },
    });
    await eventually(() =>
      expect(ruleOf('default/web')).toMatchObject({
        action: 'REJECT',
        destinations: [service.spec?.clusterIP],
      }),
    );
    await client.for(EndpointSlices).create({
      metadata: { name: 'web-1', namespace, labels: { 'kubernetes.io/service-name': 'web' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.244.2.2'], nodeName: 'node-2', conditions: { ready: true } }],
      ports: [{ name: '', port: 8080, protocol: 'TCP' }],
    });
    await eventually(() =>
      expect(network.rules.filter((rule) => rule.name === 'default/web')).toMatchObject([
        { action: 'DNAT', port: 80, endpoints: [{ address: '10.244.2.2', port: 8080 }] },
        { action: 'DNAT', port: 30_080, nodePort: true, masquerade: true },
      ]),
    );
    await client.for(Services).delete('web', { namespace });
    await eventually(() => expect(ruleOf('default/web')).toBeUndefined());
  });

  it('routes to the other nodes, and leaves their heartbeats alone', async () => {
    const nodes = client.for(Nodes);
    for (const [name, address] of [
      ['node-1', '172.30.0.11'],
      ['node-2', '172.30.0.12'],
    ] as const) {
      const node = await nodes.create({
        metadata: { name, annotations: { 'vnet.tinkernetes.dev/endpoint': `127.0.0.1:1${name.slice(-1)}` } },
        spec: { podCIDR: `10.244.${name.slice(-1)}.0/24`, podCIDRs: [`10.244.${name.slice(-1)}.0/24`] },
      });
      await nodes.updateStatus({
        ...node,
        status: { ...node.status, addresses: [{ type: 'InternalIP', address }] },
      });
    }
    await eventually(() =>
      expect(network.routes).toEqual([
        { destination: '10.244.2.0/24', gateway: '172.30.0.12', endpoint: '127.0.0.1:12' },
      ]),
    );
    // What a Service adds is written after all that came before it.
    const writesUntil = async (service: string) => {
      const spec = { ports: [{ port: 80 }] };
      await client.for(Services).create({ metadata: { name: service }, spec }, { namespace: 'default' });
      await eventually(() => expect(ruleOf(`default/${service}`)).toBeDefined());
      return network.writes;
    };
    const writes = await writesUntil('before');
    for (const second of [1, 2, 3]) {
      const beating = await nodes.get('node-2');
      const lastHeartbeatTime = `2026-01-01T00:00:0${second}Z`;
      const conditions = [{ type: 'Ready' as const, status: 'True' as const, lastHeartbeatTime }];
      await nodes.updateStatus({ ...beating, status: { ...beating.status, conditions } });
    }
    expect(await writesUntil('after')).toBe(writes + 1);
  });
});
