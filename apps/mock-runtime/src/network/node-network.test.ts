import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { realClock, realRandom } from '@tinkernetes/component-base';
import { eventually, silentLogger } from '@tinkernetes/component-base/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Policy } from '@tinkernetes/vnet';
import { HostAliases } from './host-aliases';
import type { NetNamespace } from './net-namespace';
import { NetworkState } from './network-state';
import { NodeNetwork } from './node-network';

describe("the nodes' network", () => {
  const dir = mkdtempSync(join(tmpdir(), 'node-network-'));
  let one: NodeNetwork;
  let two: NodeNetwork;

  async function startNode(index: number): Promise<NodeNetwork> {
    const network = new NodeNetwork({
      nodeName: `node-${index}`,
      nodeAddress: `172.30.0.${10 + index}`,
      overlayBindAddress: '127.0.0.1',
      aliases: new HostAliases(['172.30.0.0/16=127.0.0.1']),
      clock: realClock,
      random: realRandom,
      logger: silentLogger,
      state: new NetworkState(join(dir, String(index)), silentLogger),
    });
    await network.start();
    return network;
  }

  function pod(node: NodeNetwork, address: string): NetNamespace {
    const netns = `/netns/${address}`;
    node.attach({
      netns,
      ifname: 'eth0',
      bridge: 'cni0',
      addresses: [`${address}/24`],
      gateway: address.replace(/\d+$/, '1/24'),
    });
    return node.namespace(netns);
  }

  /** Answers each connection with its name and the client's address. */
  function serve(namespace: NetNamespace, name: string): void {
    namespace.listen({ port: 80 }, ({ stream, remote }) => stream.end(`${name} ${remote.host}`));
  }

  async function ask(from: NetNamespace, host: string, port = 80): Promise<string> {
    const { stream } = await from.connect({ host, port });
    stream.end();
    return text(stream);
  }

  let a: NetNamespace;
  let b: NetNamespace;
  let far: NetNamespace;

  beforeAll(async () => {
    one = await startNode(1);
    two = await startNode(2);
    a = pod(one, '10.244.1.2');
    b = pod(one, '10.244.1.3');
    far = pod(two, '10.244.2.2');
    serve(b, 'b');
    serve(far, 'far');
    const route = (node: NodeNetwork, cidr: string) => ({
      destination: cidr,
      gateway: node.info().address,
      endpoint: node.info().overlayEndpoint,
    });
    one.setRoutes('kube-proxy', [route(two, '10.244.2.0/24')]);
    two.setRoutes('kube-proxy', [route(one, '10.244.1.0/24')]);
  });
  afterAll(async () => {
    await one.stop();
    await two.stop();
    rmSync(dir, { recursive: true });
  });

  it('joins two Pods of a node through the bridge, sources kept', async () => {
    expect(await ask(a, '10.244.1.3')).toBe('b 10.244.1.2');
  });

  it('joins Pods of two nodes by routes, sources kept', async () => {
    expect(await ask(a, '10.244.2.2')).toBe('far 10.244.1.2');
    expect(await ask(far, '10.244.1.3')).toBe('b 10.244.2.2');
  });

  it.each([
    ['10.244.1.3', 81, 'ECONNREFUSED'],
    ['10.244.2.2', 81, 'ECONNREFUSED'],
    ['10.244.1.99', 80, 'EHOSTUNREACH'],
    ['10.244.2.99', 80, 'EHOSTUNREACH'],
    ['10.96.1.1', 80, 'EHOSTUNREACH'],
    ['127.0.0.1', 80, 'ECONNREFUSED'],
  ])('fails to reach %s:%i with %s', async (host, port, code) => {
    await expect(ask(a, host, port)).rejects.toMatchObject({ code });
  });

  it('spreads a Service over its endpoints, keeps a client with session affinity, refuses without endpoints', async () => {
    const endpoints = [
      { address: '10.244.1.3', port: 80 },
      { address: '10.244.2.2', port: 80 },
    ];
    const rule = {
      name: 'default/web',
      protocol: 'TCP' as const,
      destinations: ['10.96.0.20'],
      port: 8080,
      action: 'DNAT' as const,
      endpoints,
    };
    one.setRules('kube-proxy', [rule]);
    const seen = new Set<string>();
    for (let i = 0; i < 40; i++) seen.add((await ask(a, '10.96.0.20', 8080)).split(' ')[0] ?? '');
    expect([...seen].sort()).toEqual(['b', 'far']);
    one.setRules('kube-proxy', [{ ...rule, affinitySeconds: 60 }]);
    const sticky = new Set<string>();
    for (let i = 0; i < 20; i++) sticky.add(await ask(a, '10.96.0.20', 8080));
    expect(sticky.size).toBe(1);
    one.setRules('kube-proxy', [{ ...rule, action: 'REJECT', endpoints: [] }]);
    await expect(ask(a, '10.96.0.20', 8080)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    one.setRules('kube-proxy', []);
    await eventually(() => expect(one.conntrack.entries()).toEqual([]));
  });

  it('opens node ports on the loopback of the machine', async () => {
    const probe = createServer().listen(0, '127.0.0.1');
    await once(probe, 'listening');
    const { port } = probe.address() as { port: number };
    probe.close();
    await once(probe, 'close');
    one.setRules('kube-proxy', [
      {
        name: 'default/np',
        protocol: 'TCP',
        port,
        nodePort: true,
        action: 'DNAT',
        endpoints: [{ address: '10.244.2.2', port: 80 }],
        masquerade: true,
      },
    ]);
    await eventually(async () => expect(await await fetchRaw(port)).toBe('far 172.30.0.11'));
    expect(await ask(a, '172.30.0.11', port)).toBe('far 172.30.0.11');
    one.setRules('kube-proxy', []);
  });

  it('reaches the machine by its alias', async () => {
    const server = createServer((socket) => socket.end('host')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    expect(await ask(a, '172.30.0.1', port)).toBe('host');
    server.close();
  });

  it('carries datagrams to Pods, through Services and to the machine, and their answers back', async () => {
    const server = createSocket('udp4', (data, client) =>
      server.send(`host ${data}`, client.port, client.address),
    );
    server.bind(0, '127.0.0.1');
    await once(server, 'listening');
    const echo = far.bindUdp({ port: 53 }, ({ data, source }) =>
      echo.send(Buffer.from(`far ${Buffer.from(data)}`), source),
    );
    one.setRules('kube-proxy', [
      {
        name: 'dns',
        protocol: 'UDP',
        destinations: ['10.96.0.10'],
        port: 53,
        action: 'DNAT',
        endpoints: [{ address: '10.244.2.2', port: 53 }],
      },
      {
        name: 'dns2',
        protocol: 'UDP',
        destinations: ['10.96.0.11'],
        port: 53,
        action: 'DNAT',
        endpoints: [{ address: '172.30.0.1', port: server.address().port }],
      },
    ]);
    const received: string[] = [];
    for (const [text, host] of [
      ['1', '10.244.2.2'],
      ['2', '10.96.0.10'],
      ['3', '10.96.0.11'],
    ] as const) {
      const socket = a.bindUdp({ port: 0 }, ({ data, source }) =>
        received.push(`${Buffer.from(data)} from ${source.host}`),
      );
      socket.send(Buffer.from(text), { host, port: 53 });
    }
    await eventually(() =>
      expect([...received].sort()).toEqual([
        'far 1 from 10.244.2.2',
        'far 2 from 10.96.0.10',
        'host 3 from 10.96.0.11',
      ]),
    );
    server.close();
    one.setRules('kube-proxy', []);
  });

  it('goes on when a receiver of datagrams fails, on this node and behind the overlay', async () => {
    const received: string[] = [];
    for (const [namespace, host] of [
      [b, '10.244.1.3'],
      [far, '10.244.2.2'],
    ] as const) {
      namespace.bindUdp({ port: 71 }, ({ data }) => {
        received.push(`${Buffer.from(data)} at ${host}`);
        throw new Error('broken program');
      });
      const socket = a.bindUdp({ port: 0 }, () => undefined);
      for (const text of ['1', '2']) socket.send(Buffer.from(text), { host, port: 71 });
    }
    await eventually(() =>
      expect([...received].sort()).toEqual([
        '1 at 10.244.1.3',
        '1 at 10.244.2.2',
        '2 at 10.244.1.3',
        '2 at 10.244.2.2',
      ]),
    );
  });

  it('moves much data against back-pressure, and passes half-closes on', async () => {
    b.listen({ port: 90 }, ({ stream }) => stream.pipe(stream));
    far.listen({ port: 90 }, ({ stream }) => stream.pipe(stream));
    const data = Buffer.alloc(3_000_000, 'x');
    for (const host of ['10.244.1.3', '10.244.2.2']) {
      const { stream } = await a.connect({ host, port: 90 });
      stream.end(data);
      let size = 0;
      for await (const chunk of stream) size += (chunk as Buffer).length;
      expect(size).toBe(data.length);
    }
  });

  describe('with network policies', () => {
    const only = (direction: Policy['direction'], subject: string, peers: string[]): Policy => ({
      name: `default/${direction.toLowerCase()}`,
      direction,
      subjects: [subject],
      rules:
        peers.length > 0 ? [{ peers: [{ addresses: peers }], ports: [{ protocol: 'TCP', port: 80 }] }] : [],
    });
    afterEach(() => {
      one.setPolicies('test', []);
      two.setPolicies('test', []);
    });
    const timeoutMs = 50;
    const refused = { code: 'ETIMEDOUT' };

    it('lets in whom a rule names, from this node and from another, and the node itself', async () => {
      one.setPolicies('test', [only('INGRESS', '10.244.1.3', ['10.244.2.2'])]);
      expect(await ask(far, '10.244.1.3')).toBe('b 10.244.2.2');
      await expect(a.connect({ host: '10.244.1.3', port: 80, timeoutMs })).rejects.toMatchObject(refused);
      expect(await ask(one.host, '10.244.1.3')).toMatch(/^b /);
      one.setPolicies('test', [only('INGRESS', '10.244.1.3', ['10.244.1.2'])]);
      expect(await ask(a, '10.244.1.3')).toBe('b 10.244.1.2');
      await expect(far.connect({ host: '10.244.1.3', port: 80, timeoutMs })).rejects.toMatchObject(refused);
    });

    it('lets out to whom a rule names, and tells why not to others', async () => {
      one.setPolicies('test', [only('EGRESS', '10.244.1.2', ['10.244.2.2'])]);
      expect(await ask(a, '10.244.2.2')).toBe('far 10.244.1.2');
      await expect(a.connect({ host: '10.244.1.3', port: 80, timeoutMs })).rejects.toMatchObject(refused);
      const hops = one.trace({ source: '10.244.1.2', destination: '10.244.1.3', port: 80 });
      expect(hops.find(({ where }) => where === 'policy')?.decision).toBe(
        'dropped: no rule allows it, egress of default/egress',
      );
      expect(await ask(b, '10.244.1.3')).toBe('b 10.244.1.3');
    });

    it('lets a Pod reach itself by a Service, and its node, whatever they say', async () => {
      serve(a, 'a');
      one.host.listen({ port: 8081 }, ({ stream, remote }) => stream.end(`node ${remote.host}`));
      one.setRules('kube-proxy', [
        {
          name: 'default/own',
          protocol: 'TCP',
          destinations: ['10.96.0.20'],
          port: 80,
          action: 'DNAT',
          endpoints: [{ address: '10.244.1.2', port: 80 }],
        },
      ]);
      one.setPolicies('test', [only('EGRESS', '10.244.1.2', []), only('INGRESS', '10.244.1.2', [])]);
      expect(await ask(a, '10.96.0.20')).toMatch(/^a /);
      expect(await ask(a, '172.30.0.11', 8081)).toBe('node 10.244.1.2');
      await expect(b.connect({ host: '10.96.0.20', port: 80, timeoutMs })).rejects.toMatchObject(refused);
      one.setRules('kube-proxy', []);
    });

    it('lets the answers to datagrams in, which nobody may send first', async () => {
      const heard: string[] = [];
      const server = far.bindUdp({ port: 5300 }, ({ source }) => server.send(Buffer.from('answer'), source));
      const client = a.bindUdp({ port: 5301 }, ({ data }) => void heard.push(data.toString()));
      one.setPolicies('test', [only('INGRESS', '10.244.1.2', [])]);
      const stranger = far.bindUdp({ port: 5302 }, () => undefined);
      stranger.send(Buffer.from('unasked'), { host: '10.244.1.2', port: 5301 });
      client.send(Buffer.from('question'), { host: '10.244.2.2', port: 5300 });
      await eventually(() => expect(heard).toEqual(['answer']));
      for (const socket of [server, client, stranger]) socket.close();
    });
  });

  it('tells the way of a flow hop by hop', () => {
    const hops = one.trace({ source: '10.244.1.2', destination: '10.244.2.2', port: 80 });
    expect(hops.map((hop) => hop.where)).toEqual(['netns', 'nat', 'route', 'overlay']);
  });

  it('has its interfaces, rules and overlay port again after a restart', async () => {
    const rule = {
      name: 'kept',
      protocol: 'TCP' as const,
      destinations: ['10.96.0.30'],
      port: 80,
      action: 'DNAT' as const,
      endpoints: [{ address: '10.244.1.9', port: 80 }],
    };
    const three = await startNode(3);
    pod(three, '10.244.3.2');
    three.setRules('kube-proxy', [rule]);
    const { overlayEndpoint } = three.info();
    await three.stop();
    const again = await startNode(3);
    expect(again.info().overlayEndpoint).toBe(overlayEndpoint);
    const client = again.namespace('/netns/10.244.3.2');
    expect(client.addresses()).toEqual(['10.244.3.2']);
    expect(again.trace({ source: '10.244.3.2', destination: '10.96.0.30', port: 80 })[1]?.decision).toContain(
      'kept: 10.96.0.30:80 becomes 10.244.1.9:80',
    );
    await again.stop();
  });
});

async function fetchRaw(port: number): Promise<string> {
  const { connect } = await import('node:net');
  const socket = connect(port, '127.0.0.1');
  socket.end();
  return text(socket);
}
