import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import * as dns from 'dns-packet';
import type { Service } from '@tinkernetes/api';
import { realClock } from '@tinkernetes/component-base';
import { SeededRandom, silentLogger } from '@tinkernetes/component-base/testing';
import { ClusterResolver } from '../records/resolver';
import { alias, db, outside, viewOf, web } from '../records/test-view';
import { serveDNS } from './dns-server';
import { Forwarder } from './forwarder';
import { Responder } from './responder';
import { tcpMessages } from './tcp-framing';

const many = Array.from({ length: 60 }, (_, i) => ({ addresses: [`10.244.3.${i + 1}`] }));
const slices = [
  {
    metadata: { name: 'db-1', namespace: 'default', labels: { 'kubernetes.io/service-name': 'db' } },
    addressType: 'IPv4' as const,
    endpoints: many,
  },
];

describe('serveDNS', () => {
  const stop = new AbortController();
  const upstream = createSocket('udp4');
  let port: number;
  let stopped: Promise<void>;

  beforeAll(async () => {
    await new Promise<void>((resolve) => upstream.bind(0, '127.0.0.1', resolve));
    upstream.on('message', (message, { port: from, address }) => {
      const { id, questions } = dns.decode(message);
      const answers = [{ type: 'A' as const, name: questions?.[0]?.name ?? '', data: '192.0.2.1', ttl: 60 }];
      upstream.send(dns.encode({ type: 'response', id, questions, answers }), from, address);
    });
    const services: Service[] = [web, db, outside, alias];
    const responder = new Responder({
      resolver: new ClusterResolver(viewOf(services, slices), 'cluster.local'),
      forwarder: new Forwarder([{ host: '127.0.0.1', port: upstream.address().port }], realClock),
      random: new SeededRandom(),
      logger: silentLogger,
      signal: stop.signal,
    });
    const server = await serveDNS({
      bindAddress: '127.0.0.1',
      port: 0,
      respond: (message, transport) => responder.respond(message, transport),
      logger: silentLogger,
      signal: stop.signal,
    });
    ({ port, stopped } = server);
  });
  afterAll(async () => {
    stop.abort();
    await stopped;
    await new Promise<void>((resolve) => upstream.close(resolve));
  });

  const query = (name: string, type: dns.RecordType, udpPayloadSize?: number) =>
    dns.encode({
      type: 'query',
      id: 7,
      flags: dns.RECURSION_DESIRED,
      questions: [{ name, type }],
      additionals: udpPayloadSize
        ? [
            {
              type: 'OPT',
              name: '.',
              udpPayloadSize,
              extendedRcode: 0,
              ednsVersion: 0,
              flags: 0,
              flag_do: false,
              options: [],
            },
          ]
        : [],
    });
  const udp = (message: Buffer) =>
    new Promise<dns.DecodedPacket>((resolve) => {
      const socket = createSocket('udp4');
      socket.once('message', (answer) => {
        socket.close();
        resolve(dns.decode(answer));
      });
      socket.send(message, port, '127.0.0.1');
    });
  const tcp = async (message: Buffer) => {
    const socket = connect(port, '127.0.0.1');
    socket.write(dns.streamEncode({ ...dns.decode(message), type: 'query' }));
    for await (const answer of tcpMessages(socket)) return dns.decode(answer);
    throw new Error('no answer');
  };
  const data = ({ answers = [] }: dns.DecodedPacket) =>
    answers.map((a) => ('data' in a ? a.data : undefined));

  it('answers with authority over UDP and TCP', async () => {
    for (const ask of [udp, tcp]) {
      const answer = await ask(query('web.default.svc.cluster.local', 'A'));
      expect(answer).toMatchObject({ id: 7, rcode: 'NOERROR', flag_aa: true, flag_ra: true, flag_rd: true });
      expect(answer.answers).toMatchObject([
        { name: 'web.default.svc.cluster.local', data: '10.96.0.5', ttl: 30 },
      ]);
    }
  });

  it('says that a name does not exist with the SOA that limits how long to believe it', async () => {
    const answer = await udp(query('nope.default.svc.cluster.local', 'A'));
    expect(answer).toMatchObject({
      rcode: 'NXDOMAIN',
      answers: [],
      authorities: [{ type: 'SOA', name: 'cluster.local' }],
    });
  });

  it('truncates what does not fit a datagram and answers it in full by TCP', async () => {
    const question = query('db.default.svc.cluster.local', 'A');
    expect(await udp(question)).toMatchObject({ flag_tc: true, answers: [] });
    expect(data(await tcp(question))).toHaveLength(60);
  });

  it('answers clients with EDNS in larger datagrams', async () => {
    const answer = await udp(query('db.default.svc.cluster.local', 'A', 4096));
    expect(answer.flag_tc).toBe(false);
    expect(data(answer)).toHaveLength(60);
    expect(answer.additionals).toMatchObject([{ type: 'OPT' }]);
  });

  it('gives addresses in another order each time', async () => {
    const orders = await Promise.all(
      [1, 2, 3].map(() => udp(query('db.default.svc.cluster.local', 'A', 4096))),
    );
    expect(new Set(orders.map((o) => data(o).join())).size).toBeGreaterThan(1);
  });

  it('forwards other names', async () => {
    const answer = await udp(query('example.com', 'A'));
    expect(answer.flag_aa).toBe(false);
    expect(data(answer)).toEqual(['192.0.2.1']);
  });

  it('follows an ExternalName inside and outside of the cluster', async () => {
    expect(data(await udp(query('outside.default.svc.cluster.local', 'A')))).toEqual([
      'example.com',
      '192.0.2.1',
    ]);
    expect(data(await udp(query('alias.default.svc.cluster.local', 'A')))).toEqual([
      'web.default.svc.cluster.local',
      '10.96.0.5',
    ]);
  });

  it('fails, and does not hang, when no upstream answers', async () => {
    const forwarder = new Forwarder([], realClock);
    await expect(forwarder.forward(query('example.com', 'A'), 'udp', stop.signal)).rejects.toThrow(
      'no upstream',
    );
  });
});
