import { createServer, ServerResponse, type IncomingMessage, type Server } from 'node:http';
import type { Process } from '../../kernel/process';
import type { TcpListener } from '../../network/net-namespace';
import type { Address } from '@tinkernetes/vnet';
import type { Duplex } from 'node:stream';

export type HttpHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  client: Address,
) => void | Promise<void>;

export interface HttpService {
  readonly listener: TcpListener;
  /** Stops accepting and closes what is open. */
  close(): void;
}

export interface HttpOptions {
  port: number;
  handle: HttpHandler;
  /**
   * Requests to upgrade come to `handle` as others do, with a connection that it may take for itself. Without it what they
   * ask for is passed over.
   */
  upgrades?: boolean;
  /** Puts TLS over a connection. */
  secure?: (stream: Duplex) => Duplex;
}

/** Serves HTTP on a port of the container's network. Throws NetError EADDRINUSE. */
export const serveHttp = (process: Process, port: number, handle: HttpHandler): HttpService =>
  serveHttps(process, { port, handle });

/** Serves HTTPS, where `secure` is given. Throws NetError EADDRINUSE. */
export function serveHttps(
  process: Process,
  { port, handle, secure, upgrades = false }: HttpOptions,
): HttpService {
  const clients = new WeakMap<Duplex, Address>();
  const open = new Set<Duplex>();
  let server: Server | undefined;
  // The server object is made for the first connection: an idle web server costs one map entry.
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const client = clients.get(request.socket) ?? { host: '', port: 0 };
    Promise.resolve()
      .then(() => handle(request, response, client))
      .catch((error: unknown) => refuse(response, error));
  };
  const ensure = () => {
    if (server) return server;
    server = createServer({ keepAliveTimeout: 65_000 }, answer);
    if (upgrades)
      server.on('upgrade', (request, socket, head) => {
        if (head.length > 0) socket.unshift(head);
        const response = new ServerResponse(request);
        response.shouldKeepAlive = false;
        response.assignSocket(request.socket);
        response.once('finish', () => socket.end());
        answer(request, response);
      });
    return server;
  };
  const listener = process.net.listen({ port }, ({ stream: raw, remote }) => {
    const stream = secure?.(raw) ?? raw;
    clients.set(stream, remote);
    open.add(raw);
    raw.once('close', () => open.delete(raw));
    for (const end of new Set([raw, stream])) end.on('error', () => raw.destroy());
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
