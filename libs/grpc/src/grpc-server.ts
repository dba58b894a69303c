import type { MethodDefinition } from '@grpc/grpc-js';
import {
  createServer as createHttp2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { createServer as createSocketServer, type Server as SocketServer, type Socket } from 'node:net';
import { FrameReader } from './frames';
import { ReadingSocket } from './reading-socket';
import { refuse, ServerCall } from './server-call';
import { RpcError, type Metadata } from './status';

export interface UnaryAnswer {
  message: object;
  trailers?: Metadata;
}
/** Takes a call's one request. An RpcError becomes the call's status, any other error UNKNOWN, as in Go. */
export type ServerHandler =
  | { unary(request: object, call: ServerCall): Promise<UnaryAnswer> }
  | { stream(request: object, call: ServerCall): AsyncIterable<object> };

export interface GrpcServerOptions {
  longestMessage?: number;
}

/** As grpc-js and Go have it. */
const defaultLongest = 4 * 1024 * 1024;

/**
 * A gRPC server on unix sockets, on Node's HTTP/2 and nothing more: methods with one request and one answer or a stream
 * of them. It reads also while what it says waits (`ReadingSocket`).
 */
export class GrpcServer {
  private readonly http2 = createHttp2Server({
    // Its default would refuse calls beyond some megabytes on their way.
    maxSessionMemory: Number.MAX_SAFE_INTEGER,
  });
  private readonly methods = new Map<
    string,
    { definition: MethodDefinition<object, object>; handler: ServerHandler }
  >();
  private readonly sockets = new Set<Socket>();
  private readonly listeners = new Set<SocketServer>();
  private readonly longest: number;

  constructor({ longestMessage = defaultLongest }: GrpcServerOptions = {}) {
    this.longest = longestMessage;
    this.http2.on('session', (session) => {
      // What broke the session ends its calls, too.
      session.on('error', () => undefined);
    });
    this.http2.on('stream', (stream, headers) => this.take(stream, headers));
  }

  addMethod(definition: MethodDefinition<object, object>, handler: ServerHandler): void {
    this.methods.set(definition.path, { definition, handler });
  }

  /** At `unix:///path`; a stale socket file must be removed by the caller. */
  listen(endpoint: string): Promise<void> {
    const listener = createSocketServer((socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
      this.http2.emit('connection', new ReadingSocket(socket));
    });
    return new Promise((resolve, reject) => {
      listener.once('error', reject);
      listener.listen(endpoint.replace(/^unix:(\/\/)?/, ''), () => {
        listener.off('error', reject);
        this.listeners.add(listener);
        resolve();
      });
    });
  }

  /** Ends all calls and connections, and listens no more. */
  forceShutdown(): void {
    for (const listener of this.listeners) listener.close();
    this.listeners.clear();
    // The sockets: a session that is ended says of single calls that they were reset, and not that it is gone.
    for (const socket of this.sockets) socket.destroy();
  }

  private take(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    if (headers[':method'] !== 'POST') return refuse(stream, 405);
    if (!headers['content-type']?.startsWith('application/grpc')) return refuse(stream, 415);
    const call = new ServerCall(stream, headers);
    const path = String(headers[':path']);
    const method = this.methods.get(path);
    if (!method) {
      stream.resume();
      return call.fail(new RpcError('UNIMPLEMENTED', `The server does not implement the method ${path}`));
    }
    const frames = new FrameReader(this.longest);
    const requests: Buffer[] = [];
    let refused: RpcError | undefined;
    stream.on('data', (chunk: Buffer) => {
      if (refused) return;
      try {
        requests.push(...frames.push(chunk));
        if (requests.length > 1) throw otherThanOneRequest();
      } catch (error) {
        refused = asRpcError(error);
        call.fail(refused);
      }
    });
    stream.on('end', () => {
      if (refused) return;
      const [request] = requests;
      if (request && !frames.isWithin) void this.run(method, request, call);
      else call.fail(otherThanOneRequest());
    });
  }

  private async run(
    { definition, handler }: { definition: MethodDefinition<object, object>; handler: ServerHandler },
    bytes: Buffer,
    call: ServerCall,
  ): Promise<void> {
    try {
      const request = parse(definition, bytes);
      if ('unary' in handler) {
        const { message, trailers = {} } = await handler.unary(request, call);
        call.finish(definition.responseSerialize(message), trailers);
      } else {
        for await (const message of handler.stream(request, call)) {
          if (call.isOver) return;
          await call.write(definition.responseSerialize(message));
        }
        call.finish(undefined, {});
      }
    } catch (error) {
      call.fail(asRpcError(error));
    }
  }
}

function parse({ requestDeserialize }: MethodDefinition<object, object>, bytes: Buffer): object {
  try {
    return requestDeserialize(bytes);
  } catch (error) {
    throw new RpcError(
      'INTERNAL',
      `Error deserializing request: ${(error as Error).message}`,
      {},
      { cause: error },
    );
  }
}

const otherThanOneRequest = () => new RpcError('INTERNAL', 'a call with other than one request');

const asRpcError = (error: unknown): RpcError =>
  error instanceof RpcError
    ? error
    : new RpcError('UNKNOWN', error instanceof Error ? error.message : String(error), {}, { cause: error });
