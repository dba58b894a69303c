import { once } from 'node:events';
import { createServer, get, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { createCertificateAuthority, issueCertificate } from '@tinkernetes/pki';
import { ResumingAgent, SharedSession } from './resuming-agent';
import { createConnectionPool, type ConnectionPool } from './transport';
import type { ClientConfig } from './types';

describe('the connections of a client', () => {
  let server: Server;
  let config: ClientConfig;
  let pool: ConnectionPool;
  /** Of each connection, as the server sees it. */
  let seen: Array<{ resumed: boolean; user: string | undefined; authorized: boolean }>;

  beforeEach(async () => {
    const now = Date.now();
    const ca = await createCertificateAuthority({ commonName: 'kubernetes', now });
    const [serving, client] = await Promise.all([
      issueCertificate(ca, { commonName: 's', usages: ['serverAuth'], ipAddresses: ['127.0.0.1'], now }),
      issueCertificate(ca, { commonName: 'jane', usages: ['clientAuth'], now }),
    ]);
    seen = [];
    server = createServer(
      { cert: serving.certificate, key: serving.key, ca: ca.certificate, requestCert: true },
      (request, response) => {
        const socket = request.socket as TLSSocket;
        const user = socket.getPeerX509Certificate()?.subject;
        seen.push({ resumed: socket.isSessionReused(), user, authorized: socket.authorized });
        response.write('one line\n');
      },
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    config = {
      server: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
      caData: ca.certificate,
      certData: client.certificate,
      keyData: client.key,
      userAgent: 'test',
    };
    pool = createConnectionPool(config);
  });
  afterEach(() => {
    pool.close();
    server.closeAllConnections();
    server.close();
  });

  const open = (agent = pool.streams): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const { port } = server.address() as AddressInfo;
      get({ host: '127.0.0.1', port, agent }, (response) => {
        response.on('error', () => undefined);
        resolve(response);
      }).on('error', reject);
    });

  it('resume the session of the first, and are who it was, even when all begin at once', async () => {
    const { caData: ca, certData: cert, keyData: key } = config;
    // However busy the machine is, the session comes sooner.
    const agent = new ResumingAgent(
      { ca, cert, key, keepAlive: true, waits: true },
      new SharedSession(600_000),
    );
    await Promise.all(Array.from({ length: 10 }, () => open(agent))).finally(() => agent.destroy());
    expect(seen.map(({ resumed }) => resumed)).toEqual([false, ...Array<boolean>(9).fill(true)]);
    expect(new Set(seen.map(({ user, authorized }) => `${user} ${authorized}`))).toEqual(
      new Set(['CN=jane true']),
    );
  });

  it('resume it whether they are for requests or for streams', async () => {
    await open(pool.requests);
    await open();
    expect(seen.map(({ resumed }) => resumed)).toEqual([false, true]);
  });

  it('fail, and do not stay open, when the client closes while they wait', async () => {
    const opening = Array.from({ length: 3 }, () => open());
    const outcomes = Promise.allSettled(opening);
    pool.close();
    expect((await outcomes).filter(({ status }) => status === 'fulfilled').length).toBe(0);
    expect(seen.length).toBe(0);
  });

  it('all fail when the server is gone', async () => {
    const gone = once(server, 'close');
    server.close();
    await gone;
    const outcomes = await Promise.allSettled(Array.from({ length: 3 }, () => open()));
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  });
});
