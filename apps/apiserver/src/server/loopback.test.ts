import { createClient, type ClientConfig } from '@tinkernetes/client';
import { LoopbackNetwork } from '@tinkernetes/component-base';
import { VirtualClock } from '@tinkernetes/component-base/testing';
import {
  createCertificateAuthority,
  issueCertificate,
  type CertificateAuthority,
  type CertificatePair,
} from '@tinkernetes/pki';
import { createX509Authenticator } from '../authentication/x509';
import { startHttpsServer, type HttpsServer } from './https-server';

const now = Date.now();
const hourMs = 3600_000;

describe('clients in the process of their API server', () => {
  let ca: CertificateAuthority;
  let otherCa: CertificateAuthority;
  let jane: CertificatePair;
  let server: HttpsServer;
  let clock: VirtualClock;
  let network: LoopbackNetwork;
  const encrypted: boolean[] = [];

  beforeAll(async () => {
    [ca, otherCa] = (await Promise.all(
      ['kubernetes', 'kubernetes'].map((commonName) => createCertificateAuthority({ commonName, now })),
    )) as [CertificateAuthority, CertificateAuthority];
    jane = await clientOf(ca);
    const serving = await issueCertificate(ca, {
      commonName: 'kube-apiserver',
      usages: ['serverAuth'],
      ipAddresses: ['127.0.0.1'],
      now,
    });
    clock = new VirtualClock(now);
    network = new LoopbackNetwork(clock);
    const x509 = createX509Authenticator();
    server = await startHttpsServer(
      { cert: serving.certificate, key: serving.key, clientCa: ca.certificate },
      { host: '127.0.0.1', port: 0, inProcess: { loopback: network, clock } },
      async (request, response) => {
        encrypted.push('encrypted' in request.socket);
        const answer = await x509.authenticate(request).catch(() => undefined);
        response.end(JSON.stringify(answer?.user ?? { name: 'nobody' }));
      },
    );
  });
  afterAll(() => server.close());

  const clientOf = (authority: CertificateAuthority, durationMs = 2 * hourMs) =>
    issueCertificate(authority, {
      commonName: 'jane',
      organizations: ['dev', 'ops'],
      usages: ['clientAuth'],
      now,
      durationMs,
    });

  /** Who the server says the client is, and whether TLS was between them. */
  async function ask(pair: CertificatePair | undefined, config: Partial<ClientConfig> = {}) {
    const client = createClient(
      {
        server: `https://127.0.0.1:${server.port}`,
        caData: ca.certificate,
        certData: pair?.certificate,
        keyData: pair?.key,
        userAgent: 'test',
        ...config,
      },
      { loopback: network },
    );
    try {
      const user = await client.request<object>({ method: 'GET', path: '/api' });
      return { user, tls: encrypted.at(-1) };
    } finally {
      client.close();
    }
  }
  const janesUser = { name: 'jane', groups: ['dev', 'ops'] };

  it('are known by their certificate, without TLS', async () => {
    expect(await ask(jane)).toEqual({ user: janesUser, tls: false });
  });

  it('are nobody without one', async () => {
    expect(await ask(undefined)).toEqual({ user: { name: 'nobody' }, tls: false });
  });

  it('need TLS, and are nobody, with a certificate of another authority', async () => {
    expect(await ask(await clientOf(otherCa))).toEqual({ user: { name: 'nobody' }, tls: true });
  });

  it("need TLS, and fail, with a key that isn't their certificate's", async () => {
    const { key } = await clientOf(ca);
    expect(() => createClient({ ...configOf(), certData: jane.certificate, keyData: key })).toThrow('key');
    expect(
      network.connect({ ...target(), identity: { certificate: jane.certificate, key } }),
    ).toBeUndefined();
  });

  it('need TLS, and refuse it, when they do not believe the server', async () => {
    await expect(ask(jane, { caData: otherCa.certificate })).rejects.toThrow();
    await expect(ask(jane, { caData: undefined })).rejects.toThrow();
  });

  it('need TLS once their certificate has ended', async () => {
    const identity = await clientOf(ca, hourMs);
    expect(await ask(identity)).toEqual({ user: janesUser, tls: false });
    await clock.advance(1.5 * hourMs);
    expect((await ask(identity)).tls).toBe(true);
    expect((await ask(jane)).tls).toBe(false);
  });

  it('find no server that has closed', () => {
    const withdraw = network.offer(1, {
      certificate: jane.certificate,
      identify: jest.fn(),
      accept: jest.fn(),
    });
    withdraw();
    expect(network.connect({ ...target(), port: 1 })).toBeUndefined();
  });

  const configOf = (): ClientConfig => ({
    server: `https://127.0.0.1:${server.port}`,
    caData: ca.certificate,
    userAgent: 'test',
  });
  const target = () => ({
    host: '127.0.0.1',
    port: server.port,
    ca: ca.certificate,
    identity: {},
  });
});
