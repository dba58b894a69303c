import type { Duplex } from 'node:stream';
import type { Http2Server, ServerHttp2Stream } from 'node:http2';
import type { Process } from '../../kernel/process';
import type { TcpListener } from '../../network/net-namespace';

/** HealthCheckResponse { status = 1 } in gRPC's frame: 1 is SERVING, 2 is not. */
const answerOf = (isServing: boolean): Buffer => Buffer.from([0, 0, 0, 0, 2, 0x08, isServing ? 1 : 2]);
const frameHeaderBytes = 5;
const notFound = '5';
const unimplemented = '12';

export interface GrpcHealth {
  port: number;
  isServing(): boolean;
  /** A connection that does not speak HTTP/2; left out: it is closed. */
  other?(stream: Duplex): void;
}

/**
 * Serves grpc.health.v1.Health/Check on a port. Throws NetError EADDRINUSE.
 * Source: https://github.com/grpc/grpc/blob/master/doc/health-checking.md
 */
export async function serveGrpcHealth(
  process: Process,
  { port, isServing, other }: GrpcHealth,
): Promise<TcpListener> {
  const { createServer } = await import('node:http2');
  const server: Http2Server = createServer();
  server.on('stream', (stream, headers) => {
    stream.on('error', () => stream.destroy());
    const question: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => question.push(chunk));
    stream.once('end', () => {
      if (headers[':path'] !== '/grpc.health.v1.Health/Check')
        refuse(stream, unimplemented, 'unknown method');
      // The one without a name is the server itself.
      else if (Buffer.concat(question).length > frameHeaderBytes) refuse(stream, notFound, 'unknown service');
      else respond(stream, answerOf(isServing()));
    });
  });
  const open = new Set<Duplex>();
  const listener = process.net.listen({ port }, ({ stream }) => {
    open.add(stream);
    stream.on('error', () => stream.destroy());
    stream.once('close', () => open.delete(stream));
    // HTTP/2 begins with its preface, `PRI * HTTP/2.0`.
    stream.once('data', (first: Buffer) => {
      stream.pause();
      stream.unshift(first);
      if (first.toString('latin1', 0, 3) === 'PRI') server.emit('connection', stream);
      else if (other) other(stream);
      else stream.destroy();
      stream.resume();
    });
  });
  const close = () => {
    listener.close();
    for (const stream of open) stream.destroy();
  };
  process.signal.addEventListener('abort', close, { once: true });
  return listener;
}

function refuse(stream: ServerHttp2Stream, status: string, message: string): void {
  const headers = { ':status': 200, 'content-type': 'application/grpc' };
  stream.respond({ ...headers, 'grpc-status': status, 'grpc-message': message }, { endStream: true });
}

function respond(stream: ServerHttp2Stream, message: Buffer): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(message);
}
