import type { FinishedStep } from '@tinkernetes/component-base';
import { GrpcServer, RpcError, type Metadata, type ServerCall, type ServerHandler } from '@tinkernetes/grpc';
import { CriError } from './cri-error';
import type { ImageServiceMethods, RuntimeServiceMethods } from './generated/types';
import { serviceDefinition } from './service';
import { maxSteps, stepsTrailer } from './steps-trailer';
import type { DeepPartial, MethodTypes, ServiceMethods } from './types';

export interface CriCall {
  /** Aborted when the client cancels, its deadline passes, or the server shuts down. */
  readonly signal: AbortSignal;
  /** The caller's W3C trace context. */
  readonly traceParent: string | undefined;
}

type Handler<M extends MethodTypes> = M['serverStreaming'] extends true
  ? (request: M['request'], call: CriCall) => AsyncIterable<DeepPartial<M['response']>>
  : (
      request: M['request'],
      call: CriCall,
    ) => DeepPartial<M['response']> | Promise<DeepPartial<M['response']>>;

/** A method left out answers UNIMPLEMENTED. A CriError becomes its status; any other error UNKNOWN, as in Go. */
export type CriHandlers<M extends ServiceMethods<M>> = { readonly [K in keyof M]?: Handler<M[K]> };
export type RuntimeHandlers = CriHandlers<RuntimeServiceMethods>;
export type ImageHandlers = CriHandlers<ImageServiceMethods>;

export function createCriServer(): GrpcServer {
  return new GrpcServer({ longestMessage: 16 * 1024 * 1024 });
}

/** Listens on `unix:///path`; a stale socket file must be removed by the caller. */
export function listen(server: GrpcServer, endpoint: string): Promise<void> {
  return server.listen(endpoint);
}

export interface CriServiceOptions {
  /**
   * Steps of traces that have finished since it was last asked. A runtime has no connection to the API server: they go
   * back to the kubelet in the trailers of traced calls.
   */
  finishedSteps?(): Promise<readonly FinishedStep[]>;
}

export function addRuntimeService(
  server: GrpcServer,
  handlers: RuntimeHandlers,
  options: CriServiceOptions = {},
): void {
  addService<RuntimeServiceMethods>(server, 'RuntimeService', { handlers, ...options });
}

export function addImageService(
  server: GrpcServer,
  handlers: ImageHandlers,
  options: CriServiceOptions = {},
): void {
  addService<ImageServiceMethods>(server, 'ImageService', { handlers, ...options });
}

type AnyHandler = (request: object, call: CriCall) => unknown;

function addService<M extends ServiceMethods<M>>(
  server: GrpcServer,
  service: 'RuntimeService' | 'ImageService',
  { handlers, finishedSteps }: CriServiceOptions & { handlers: CriHandlers<M> },
): void {
  const table = handlers as Record<string, AnyHandler | undefined>;
  for (const [name, method] of Object.entries(serviceDefinition(service))) {
    const handler: AnyHandler = (request, call) => {
      const own = table[name];
      if (!own) throw new CriError('UNIMPLEMENTED', `method ${method.path.split('/')[2]} not implemented`);
      return own.call(handlers, request, call);
    };
    server.addMethod(method, method.responseStream ? streaming(handler) : unary(handler, finishedSteps));
  }
}

function unary(handler: AnyHandler, finishedSteps: CriServiceOptions['finishedSteps']): ServerHandler {
  return {
    async unary(request, call) {
      const context = callContext(call);
      const trailers = async () => {
        const steps = context.traceParent && finishedSteps ? await finishedSteps() : [];
        return stepsMetadata(steps);
      };
      let message: object;
      try {
        message = ((await handler(request, context)) ?? {}) as object;
      } catch (error) {
        throw toRpcError(error, await trailers());
      }
      return { message, trailers: await trailers() };
    },
  };
}

function streaming(handler: AnyHandler): ServerHandler {
  return {
    async *stream(request, call) {
      try {
        yield* handler(request, callContext(call)) as AsyncIterable<object>;
      } catch (error) {
        throw toRpcError(error);
      }
    },
  };
}

const stepsMetadata = (steps: readonly FinishedStep[]): Metadata =>
  steps.length > 0 ? { [stepsTrailer]: Buffer.from(JSON.stringify(steps.slice(0, maxSteps))) } : {};

function callContext(call: ServerCall): CriCall {
  return {
    get signal() {
      return call.signal;
    },
    traceParent: call.metadata('traceparent')?.toString(),
  };
}

function toRpcError(error: unknown, metadata?: Metadata): RpcError {
  const message = error instanceof Error ? error.message : String(error);
  return new RpcError(error instanceof CriError ? error.code : 'UNKNOWN', message, metadata, {
    cause: error,
  });
}
