import type { MethodDefinition } from '@grpc/grpc-js';
import type { IncomingHttpHeaders } from 'node:http2';
import { realClock } from '@tinkernetes/component-base';
import { ClientCall, type CallOptions, type ClientCallParts } from './client-call';
import { Connection } from './connection';
import { RpcError } from './status';

export interface GrpcClientOptions {
  /** Ends all calls of the client, with its reason. */
  signal?: AbortSignal;
  longestMessage?: number;
}

export type Method = MethodDefinition<object, object>;

/** How a call has ended; its trailers also where it has failed. */
export interface Reply {
  error: Error | undefined;
  message: object | undefined;
  trailers: IncomingHttpHeaders;
}

/** As grpc-js and Go have it. */
const defaultLongest = 4 * 1024 * 1024;
/** So many messages wait for their reader before the stream has to. */
const mostWaiting = 64;

/**
 * A gRPC client of a unix socket on Node's HTTP/2 and nothing more: no name resolution, balancing, retries or
 * interceptors, which took most of a call's CPU. Calls fail with RpcError, or with the reason of the signal that ended
 * them. Deadlines are real time whatever clock the component runs on.
 */
export class GrpcClient {
  private readonly connection: Connection;
  private readonly calls = new Set<ClientCall>();
  private readonly onAbort = () => this.cancelAll(this.options.signal?.reason as Error);

  /** `endpoint`: `unix:///path`. Connects with the first call. */
  constructor(
    endpoint: string,
    private readonly options: GrpcClientOptions = {},
  ) {
    this.connection = new Connection(endpoint, realClock);
    // One listener for all calls.
    options.signal?.addEventListener('abort', this.onAbort, { once: true });
  }

  /** Rejects only where the request can't be written. */
  unary(method: Method, request: object, options: CallOptions = {}): Promise<Reply> {
    return new Promise((resolve) => {
      let message: object | undefined;
      const call = this.begin(method, request, {
        options,
        onMessage: (bytes) => (message = read(method, bytes)),
        onEnd: (error) => {
          const { trailers } = call;
          const missing = !error && !message;
          resolve({
            error: missing ? new RpcError('INTERNAL', 'an answer without a message') : error,
            message,
            trailers,
          });
        },
      });
      call.begin();
    });
  }

  /** The call starts with the first `next()` and is cancelled when the consumer stops. */
  async *serverStream(method: Method, request: object, options: CallOptions = {}): AsyncGenerator<object> {
    const queue: object[] = [];
    let wake: () => void = () => undefined;
    let end: { error: Error | undefined } | undefined;
    const call = this.begin(method, request, {
      options,
      onMessage: (bytes) => {
        if (queue.push(read(method, bytes)) >= mostWaiting) call.pause();
        wake();
      },
      onEnd: (error) => {
        end = { error };
        wake();
      },
    });
    call.begin();
    try {
      for (;;) {
        const next = queue.shift();
        if (next) {
          if (queue.length === 0) call.resume();
          yield next;
        } else if (end) {
          if (end.error) throw end.error;
          return;
        } else await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      call.cancel(new RpcError('CANCELLED', 'nobody listens any more'));
    }
  }

  /** Ends the calls that are under way. */
  close(): void {
    this.options.signal?.removeEventListener('abort', this.onAbort);
    this.cancelAll(new RpcError('CANCELLED', 'the client is closed'));
    this.connection.close();
  }

  private cancelAll(reason: Error): void {
    for (const call of [...this.calls]) call.cancel(reason);
  }

  private begin(
    method: Method,
    request: object,
    { options, onMessage, onEnd }: Pick<ClientCallParts, 'onMessage' | 'onEnd'> & { options: CallOptions },
  ): ClientCall {
    const call = new ClientCall(
      {
        connection: this.connection,
        path: method.path,
        request: method.requestSerialize(request),
        longestMessage: this.options.longestMessage ?? defaultLongest,
        ended: this.options.signal,
        onMessage,
        onEnd: (error) => {
          this.calls.delete(call);
          onEnd(error);
        },
      },
      options,
    );
    this.calls.add(call);
    return call;
  }
}

function read(method: Method, bytes: Buffer): object {
  try {
    return method.responseDeserialize(bytes);
  } catch (error) {
    const message = `Response message parsing error: ${(error as Error).message}`;
    throw new RpcError('INTERNAL', message, {}, { cause: error });
  }
}
