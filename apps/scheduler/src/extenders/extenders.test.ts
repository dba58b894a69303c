import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { realClock } from '@tinkernetes/component-base';
import { createCertificateAuthority, issueCertificate } from '@tinkernetes/pki';
import { extenderOf } from '../config/extender-configuration';
import type { RawExtender } from '../config/raw';
import { ExtenderServer, type Verb } from '../testing/extender-server';
import { makeNode, makePod } from '../testing/objects';
import { TestCluster } from '../testing/test-cluster';
import { podInfoOf } from '../cache/pod-info';
import { createExtenders } from './http-extender';

const nodes = ['a', 'b', 'c'].map((name) => makeNode(name));
const gpuPod = makePod('gpu', { requests: { 'example.com/gpu': '1' } });
const signal = new AbortController().signal;

describe('HTTP extenders', () => {
  const servers: ExtenderServer[] = [];
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  });
  const serve = async (verbs: Record<string, Verb>) => {
    const server = await ExtenderServer.start(verbs);
    servers.push(server);
    return server;
  };
  const clusterWith = async (...raw: RawExtender[]) =>
    new TestCluster({ nodes, extenders: await createExtenders(raw.map(extenderOf)) });
  const onlyB = ({ NodeNames = [] }: { NodeNames?: string[] }) => ({
    NodeNames: NodeNames.filter((name) => name === 'b'),
    FailedNodes: { a: 'no licence' },
    FailedAndUnresolvableNodes: { c: 'wrong site', a: 'no licence for ever' },
  });

  it('filter nodes by name when they know the nodes, and their reasons are shown', async () => {
    const server = await serve({ filter: onlyB });
    const cluster = await clusterWith({
      urlPrefix: server.url,
      filterVerb: 'filter',
      nodeCacheCapable: true,
    });
    const placement = await cluster.placeWithExtenders(makePod('p'));
    expect(placement).toMatchObject({ kind: 'found', node: 'b', feasible: 1 });
    expect(Object.fromEntries(placement.diagnosis.statuses)).toEqual({
      a: { code: 'UnschedulableAndUnresolvable', reasons: ['no licence for ever'], plugin: 'Extender' },
      c: { code: 'UnschedulableAndUnresolvable', reasons: ['wrong site'], plugin: 'Extender' },
    });
    expect(server.received).toEqual([
      {
        verb: 'filter',
        body: expect.objectContaining({ NodeNames: ['a', 'b', 'c'] }) as Record<string, unknown>,
      },
    ]);
    expect(server.received[0]?.body.Pod).toMatchObject({ kind: 'Pod', metadata: { name: 'p' } });
  });

  it('get whole Nodes otherwise, and answer with them', async () => {
    const server = await serve({
      filter: ({ Nodes }: { Nodes: { items: { metadata: { name: string } }[] } }) => ({
        Nodes: { items: Nodes.items.filter(({ metadata }) => metadata.name === 'c') },
      }),
    });
    const cluster = await clusterWith({ urlPrefix: server.url, filterVerb: 'filter' });
    expect(await cluster.placeWithExtenders(makePod('p'))).toMatchObject({ kind: 'found', node: 'c' });
  });

  it('are asked one after the other, each with what the one before left', async () => {
    const server = await serve({
      notA: ({ NodeNames }: { NodeNames: string[] }) => ({ NodeNames: NodeNames.filter((n) => n !== 'a') }),
      notB: ({ NodeNames }: { NodeNames: string[] }) => ({ NodeNames: NodeNames.filter((n) => n !== 'b') }),
    });
    const { url: urlPrefix } = server;
    const cluster = await clusterWith(
      { urlPrefix, filterVerb: 'notA', nodeCacheCapable: true, ignorable: true },
      { urlPrefix, filterVerb: 'notB', nodeCacheCapable: true },
    );
    expect(await cluster.placeWithExtenders(makePod('p'))).toMatchObject({ node: 'c' });
    // Those that may be ignored come last.
    expect(server.received.map(({ verb, body }) => [verb, body.NodeNames])).toEqual([
      ['notB', ['a', 'b', 'c']],
      ['notA', ['a', 'c']],
    ]);
  });

  it('add their scores, times ten and their weight, to the plugins’', async () => {
    const prioritize = () => [
      { Host: 'a', Score: 1 },
      { Host: 'c', Score: 10 },
    ];
    const server = await serve({ prioritize });
    const cluster = await clusterWith({
      urlPrefix: server.url,
      prioritizeVerb: 'prioritize',
      nodeCacheCapable: true,
      weight: 5,
    });
    const placement = await cluster.placeWithExtenders(makePod('p'));
    expect(placement).toMatchObject({ node: 'c' });
    const { scores } = placement as Extract<typeof placement, { kind: 'found' }>;
    const own = scores?.plugins.find(({ plugin }) => plugin === server.url);
    const byNode = Object.fromEntries((scores?.nodes ?? []).map((n, i) => [n, own?.normalized[i]]));
    expect({ weight: own?.weight, byNode }).toEqual({ weight: 5, byNode: { a: 10, b: 0, c: 100 } });
  });

  it('are asked only about Pods that want one of their resources', async () => {
    const server = await serve({ filter: () => ({ NodeNames: [] }) });
    const managedResources = [{ name: 'example.com/gpu' }];
    const cluster = await clusterWith({ urlPrefix: server.url, filterVerb: 'filter', managedResources });
    expect(await cluster.placeWithExtenders(makePod('p'))).toMatchObject({ kind: 'found' });
    expect(server.received).toEqual([]);
    expect(cluster.handle.extenders.concern(gpuPod)).toBe(true);
  });

  it.each([
    ['an error of its own', () => ({ Error: 'database is down' }), 'filter', 'database is down'],
    ['a status other than 200', () => ({}), 'elsewhere', /failed elsewhere with extender at URL .* code 404/],
    ['a node that was not asked about', () => ({ NodeNames: ['z'] }), 'filter', /claims a filtered node "z"/],
  ])('fail the attempt with %s, unless they may be ignored', async (_, filter, filterVerb, message) => {
    const server = await serve({ filter });
    const raw = { urlPrefix: server.url, filterVerb, nodeCacheCapable: true };
    await expect((await clusterWith(raw)).placeWithExtenders(makePod('p'))).rejects.toThrow(message);
    const cluster = await clusterWith({ ...raw, ignorable: true });
    expect(await cluster.placeWithExtenders(makePod('p'))).toMatchObject({ kind: 'found', feasible: 3 });
  });

  it('are given up after httpTimeout', async () => {
    const server = await serve({ filter: () => ({}) });
    jest
      .spyOn(server as unknown as { answer(): Promise<never> }, 'answer')
      .mockReturnValue(new Promise(() => undefined));
    const cluster = await clusterWith({ urlPrefix: server.url, filterVerb: 'filter', httpTimeout: '50ms' });
    await expect(cluster.placeWithExtenders(makePod('p'))).rejects.toThrow(/no whole answer within 50 ms/);
  });

  it('are given up after httpTimeout also while they go on sending', async () => {
    const server = createServer((_, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      const dripping = setInterval(() => response.write(' '), 10);
      response.once('close', () => clearInterval(dripping));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const urlPrefix = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const cluster = await clusterWith({ urlPrefix, filterVerb: 'filter', httpTimeout: '100ms' });
      await expect(cluster.placeWithExtenders(makePod('p'))).rejects.toThrow(/no whole answer within 100 ms/);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  it('agree to preemption by naming the victims, and leave nodes out', async () => {
    const server = await serve({
      preempt: ({ NodeNameToMetaVictims: given }: { NodeNameToMetaVictims: Record<string, object> }) => ({
        NodeNameToMetaVictims: { b: given.b },
      }),
    });
    const cluster = await clusterWith({
      urlPrefix: server.url,
      preemptVerb: 'preempt',
      nodeCacheCapable: true,
    });
    const victim = podInfoOf(makePod('victim', { node: 'b' }));
    const candidates = ['a', 'b'].map((node) => ({ node, victims: [victim], violatedBudgets: 1 }));
    const podsOn = () => [victim];
    expect(await cluster.handle.extenders.preempt(makePod('p'), candidates, podsOn)).toEqual([candidates[1]]);
    expect(server.received[0]?.body.NodeNameToMetaVictims).toEqual({
      a: { Pods: [{ UID: 'default/victim' }], NumPDBViolations: 1 },
      b: { Pods: [{ UID: 'default/victim' }], NumPDBViolations: 1 },
    });
    await expect(cluster.handle.extenders.preempt(makePod('p'), candidates, () => [])).rejects.toThrow(
      /claims to preempt pod \(UID: default\/victim\) on node: b, but the pod is not found/,
    );
  });

  it('bind instead of DefaultBinder', async () => {
    const server = await serve({ bind: () => ({}), refuse: () => ({ Error: 'not today' }) });
    const bound = async (bindVerb: string) => {
      const { framework } = await clusterWith({ urlPrefix: server.url, bindVerb });
      const target = { node: 'a', signal, trace: undefined };
      return framework.bind(undefined as never, makePod('p'), target);
    };
    expect(await bound('bind')).toBeUndefined();
    expect(server.received[0]?.body).toEqual({
      PodName: 'p',
      PodNamespace: 'default',
      PodUID: 'default/p',
      Node: 'a',
    });
    expect(await bound('refuse')).toEqual({ code: 'Error', reasons: ['not today'] });
  });

  it('speak TLS, trusted by the authority that tlsConfig names, and know their client by its certificate', async () => {
    const now = realClock.now();
    const ca = await createCertificateAuthority({ commonName: 'extender-ca', now });
    const server = await issueCertificate(ca, {
      commonName: 'extender',
      ipAddresses: ['127.0.0.1'],
      usages: ['serverAuth'],
      now,
    });
    const own = await issueCertificate(ca, { commonName: 'scheduler', usages: ['clientAuth'], now });
    const tls = { cert: server.certificate, key: server.key, ca: ca.certificate };
    const filter = ({ NodeNames }: { NodeNames: string[] }) => ({ NodeNames });
    const https = await ExtenderServer.start(
      { filter },
      { ...tls, requestCert: true, rejectUnauthorized: true },
    );
    servers.push(https);
    const base64 = (pem: string) => Buffer.from(pem).toString('base64');
    const identity = { certData: base64(own.certificate), keyData: base64(own.key) };
    const place = async (raw: RawExtender) =>
      (await clusterWith({ urlPrefix: https.url, filterVerb: 'filter', nodeCacheCapable: true, ...raw }))
        .placeWithExtenders(makePod('p'))
        .then(
          ({ kind }) => kind,
          (error: Error) => error.message,
        );
    const trusting = { ...identity, caData: base64(ca.certificate) };
    expect(await place({ enableHTTPS: true, tlsConfig: trusting })).toBe('found');
    expect(await place({ tlsConfig: identity })).toMatch(/self.signed|unable to verify/i);
    expect(await place({ enableHTTPS: true, tlsConfig: identity })).toBe('found');
    expect(await place({ tlsConfig: { caData: trusting.caData } })).toMatch(
      /certificate required|ECONNRESET|alert/i,
    );
  });
});
