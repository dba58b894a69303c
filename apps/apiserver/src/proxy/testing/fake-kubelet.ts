import { createServer, type Server } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { realClock } from '@tinkernetes/component-base';
import { createSelfSignedCertificate } from '@tinkernetes/pki';

export interface FakeKubelet {
  readonly port: number;
  /** `GET /containerLogs/…?follow=true`, in order. */
  readonly requests: string[];
  /** Headers of the last request. */
  headers(): IncomingMessage['headers'];
  stop(): Promise<void>;
}

/** A kubelet's server as far as the API server uses it: logs, statistics, an upgrade that echoes, tunnels. */
export async function startFakeKubelet({ summary }: { summary?: () => object } = {}): Promise<FakeKubelet> {
  const pair = await createSelfSignedCertificate({
    commonName: 'system:node:fake',
    usages: ['serverAuth'],
    now: realClock.now(),
  });
  const requests: string[] = [];
  let headers: IncomingMessage['headers'] = {};
  const sockets = new Set<Duplex>();
  const note = (request: IncomingMessage) => {
    requests.push(`${request.method ?? ''} ${request.url ?? ''}`);
    headers = request.headers;
  };
  const server = createServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
    note(request);
    if (request.url?.includes('/waiting')) {
      response.writeHead(400).end('container "waiting" in pod "web" is waiting to start: ContainerCreating');
      return;
    }
    if (summary && request.url?.startsWith('/stats/summary')) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(summary()));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/plain' });
    response.write('one\n');
    if (request.url?.includes('follow=true')) setImmediate(() => response.end('two\n'));
    else response.end('two\n');
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    note(request);
    sockets.add(socket);
    const url = new URL(request.url ?? '/', 'https://kubelet');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${request.headers.upgrade ?? ''}\r\n\r\n`,
    );
    if (url.pathname !== '/dial') {
      if (head.length > 0) socket.write(head);
      socket.pipe(socket);
      return;
    }
    // The node's network: every Pod of it is on this host.
    const backend = connect(Number(url.searchParams.get('port')), '127.0.0.1');
    sockets.add(backend);
    backend.on('error', () => socket.destroy());
    socket.on('error', () => backend.destroy());
    socket.pipe(backend).pipe(socket);
  });
  await listening(server);
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    headers: () => headers,
    stop: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const listening = (server: Server): Promise<void> =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
