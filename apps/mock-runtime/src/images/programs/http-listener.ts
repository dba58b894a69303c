import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Process } from '../../kernel/process';
import type { TcpListener } from '../../network/net-namespace';
import type { Address } from '@tinkernetes/vnet';
import type { Duplex } from 'node:stream';

export type HttpHandler = (request: IncomingMessage, response: ServerResponse, client: Address) => void;

export interface HttpService {
  readonly listener: TcpListener;
  /** Stops accepting and closes what is open. */
  close(): void;
}

/** Serves HTTP on a port of the container's network. Throws NetError EADDRINUSE. */
export function serveHttp(process: Process, port: number, handle: HttpHandler): HttpService {
  const clients = new WeakMap<Duplex, Address>();
  const open = new Set<Duplex>();
  let server: Server | undefined;
  // The server object is made for the first connection: an idle web server costs one map entry.
  const ensure = () =>
    (server ??= createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
      try {
        handle(request, response, clients.get(request.socket) ?? { host: '', port: 0 });
      } catch (error) {
        refuse(response, error);
      }
    }));
  const listener = process.net.listen({ port }, ({ stream, remote }) => {
    clients.set(stream, remote);
    open.add(stream);
    stream.once('close', () => open.delete(stream));
    stream.on('error', () => stream.destroy());
    ensure().emit('connection', stream);
  });
  const close = () => {
    listener.close();
    for (const stream of open) stream.destroy();
    server?.close();
  };
  process.signal.addEventListener('abort', close, { once: true });
  return { listener, close };
}

/** A request that a program can't take, e.g. for `/%`, ends with an error, as in a process of its own; not the node. */
function refuse(response: ServerResponse, error: unknown): void {
  const isBadRequest =
    error instanceof URIError || (error as NodeJS.ErrnoException).code === 'ERR_INVALID_URL';
  if (response.headersSent) response.destroy();
  else response.writeHead(isBadRequest ? 400 : 500).end();
}
