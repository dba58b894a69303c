import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export type Verb = (body: never) => unknown;

/** A real HTTP(S) server with the verbs of an extender, by path. An unknown verb is answered with 404. */
export class ExtenderServer {
  /** Bodies by verb, in the order in which they came. */
  readonly received: { verb: string; body: Record<string, unknown> }[] = [];

  private constructor(
    private readonly server: Server,
    private readonly scheme: 'http' | 'https',
    private readonly verbs: Readonly<Record<string, Verb>>,
  ) {}

  static async start(verbs: Readonly<Record<string, Verb>>, tls?: ServerOptions): Promise<ExtenderServer> {
    const listener: RequestListener = (request, response) => {
      void made.answer(request).then(({ status, body }) => {
        response.writeHead(status, { 'Content-Type': 'application/json' });
        response.end(JSON.stringify(body));
      });
    };
    const server = tls ? createTlsServer(tls, listener) : createServer(listener);
    const made = new ExtenderServer(server, tls ? 'https' : 'http', verbs);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return made;
  }

  get url(): string {
    return `${this.scheme}://127.0.0.1:${(this.server.address() as AddressInfo).port}/scheduler/`;
  }

  async stop(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  private async answer(request: IncomingMessage): Promise<{ status: number; body: unknown }> {
    const verb = request.url?.split('/').pop() ?? '';
    const body = (await json(request)) as Record<string, unknown>;
    this.received.push({ verb, body });
    const answer = this.verbs[verb];
    return answer ? { status: 200, body: answer(body as never) } : { status: 404, body: {} };
  }
}
