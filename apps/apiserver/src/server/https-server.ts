import { createServer, type Server } from 'node:https';
import { ServerResponse, type IncomingMessage, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  certificatesIn,
  clientIdentities,
  UsageError,
  type Clock,
  type LoopbackNetwork,
} from '@tinkernetes/component-base';

export interface TlsMaterial {
  cert: string;
  key: string;
  /** Client certificates are asked for and checked against this; PEM. */
  clientCa: string | undefined;
}

export type Handle = (
  request: IncomingMessage,
  response: ServerResponse,
  upgrade?: { socket: Duplex; head: Buffer },
) => Promise<void>;

export interface HttpsAddress {
  host: string;
  port: number;
  /** Where clients in this process find the server, too. */
  inProcess?: { loopback: LoopbackNetwork; clock: Clock };
}

export interface HttpsServer {
  port: number;
  /** No new connections; open ones are closed. */
  close(): Promise<void>;
}

/** Idle connections are kept this long: clients reuse them, so that TLS is negotiated seldom. */
const keepAliveMs = 90_000;

/** The API's own paths: what all but few requests are for. */
const isApiPath = (url: string | undefined): boolean => url !== undefined && /^\/apis?(?:[/?]|$)/.test(url);

/**
 * The web application, made when somebody first asks for a page: start pays nothing for it, and requests of the API,
 * which the path parser behind `handle` sorts, none of its cost per request.
 */
function lazyExpress(handle: Handle): RequestListener {
  let app: Promise<RequestListener> | undefined;
  const make = async (): Promise<RequestListener> => {
    const { default: express } = await import('express');
    const created = express();
    created.disable('x-powered-by');
    created.disable('etag');
    created.use((request, response, next) => {
      handle(request, response).catch(next);
    });
    return created;
  };
  return (request, response) => {
    app ??= make();
    app.then(
      (serve) => serve(request, response),
      () => response.destroy(),
    );
  };
}

/** HTTPS: the API's paths go straight to the handler, all others through Express. */
export async function startHttpsServer(
  { cert, key, clientCa }: TlsMaterial,
  address: HttpsAddress,
  handle: Handle,
): Promise<HttpsServer> {
  const pages = lazyExpress(handle);
  const server = createServer(
    {
      cert,
      key,
      ca: clientCa,
      requestCert: clientCa !== undefined,
      rejectUnauthorized: false,
      keepAliveTimeout: keepAliveMs,
      noDelay: true,
      maxHeaderSize: 64 * 1024,
    },
    (request, response) => {
      if (!isApiPath(request.url)) return pages(request, response);
      handle(request, response).catch(() => response.destroy());
    },
  );
  // A watch lasts as long as it lasts.
  server.requestTimeout = 0;
  server.headersTimeout = 32_000;
  const sockets = new Set<Duplex>();
  const closeAtEnd = (socket: Duplex): void => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  };
  server.on('connection', closeAtEnd);
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const response = new ServerResponse(request);
    response.assignSocket(socket as Socket);
    response.on('finish', () => socket.end());
    handle(request, response, { socket, head }).catch(() => socket.destroy());
  });
  await listen(server, address);
  const bound = server.address();
  const port = bound !== null && typeof bound === 'object' ? bound.port : address.port;
  const withdraw = address.inProcess?.loopback.offer(port, {
    certificate: cert,
    identify: clientIdentities(certificatesIn(clientCa ?? ''), address.inProcess.clock),
    accept(socket) {
      closeAtEnd(socket);
      server.emit('secureConnection', socket);
    },
  });
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        withdraw?.();
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function listen(server: Server, { host, port }: HttpsAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE'
          ? new UsageError(
              `port ${port} on ${host} is in use: choose another with --secure-port (0: any free one)`,
            )
          : error,
      );
    });
    server.listen(port, host, () => resolve());
  });
}
