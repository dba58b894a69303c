import { createServer, request as httpRequest, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import { SpdyTestClient } from './spdy/test-client';
import type { UpgradeRequest } from './types';

/** A server whose upgrade requests a test serves, and ways to reach it. */
export class TestServer {
  readonly sockets = new Set<Socket>();
  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  static async start(onUpgrade: (upgrade: UpgradeRequest) => Promise<void>): Promise<TestServer> {
    const server = createServer((_request, response) => response.writeHead(404).end('not here'));
    server.on(
      'upgrade',
      (request, socket: Duplex, head: Buffer) => void onUpgrade({ request, socket, head }),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const started = new TestServer(server, (server.address() as AddressInfo).port);
    server.on('connection', (socket) => {
      started.sockets.add(socket);
      socket.once('close', () => started.sockets.delete(socket));
    });
    return started;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${this.port}/`);
  }

  webSocket(protocols: string[]): WebSocket {
    return new WebSocket(`ws://127.0.0.1:${this.port}/`, protocols);
  }

  /** The connection after a 101, or the answer that was given instead. */
  upgrade(
    headers: Record<string, string>,
  ): Promise<{ code: number; headers: object; socket?: Duplex; body: string }> {
    return new Promise((resolve, reject) => {
      const request = httpRequest({
        host: '127.0.0.1',
        port: this.port,
        method: headers.upgrade === 'websocket' ? 'GET' : 'POST',
        headers: { connection: 'Upgrade', 'content-length': '0', ...headers },
      });
      request.on('error', reject);
      request.on('upgrade', (response, socket, head) => {
        if (head.length > 0) socket.unshift(head);
        resolve({ code: 101, headers: response.headers, socket, body: '' });
      });
      request.on('response', (response) => {
        let body = '';
        response.on('data', (chunk: Buffer) => (body += chunk.toString()));
        response.on('end', () =>
          resolve({ code: response.statusCode ?? 0, headers: response.headers, body }),
        );
      });
      request.end();
    });
  }

  async spdy(protocol: string): Promise<SpdyTestClient> {
    const { socket, code, body } = await this.upgrade({
      upgrade: 'SPDY/3.1',
      'x-stream-protocol-version': protocol,
    });
    if (!socket) throw new Error(`not upgraded: ${code} ${body}`);
    return new SpdyTestClient(socket);
  }

  raw(): Socket {
    return connect(this.port, '127.0.0.1');
  }
}
