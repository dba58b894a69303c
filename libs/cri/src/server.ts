import {
  Metadata,
  status,
  type Server,
  type ServerUnaryCall,
  type ServerWritableStream,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { once } from 'node:events';
import type { FinishedStep } from '@tinkernetes/component-base';
import { ReadingServer } from '@tinkernetes/grpc';
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

export function createCriServer(): ReadingServer {
  return new ReadingServer({
    'grpc.max_receive_message_length': 16 * 1024 * 1024,
    'grpc.max_send_message_length': 16 * 1024 * 1024,
  });
}

/** Listens on `unix:///path`; a stale socket file must be removed by the caller. */
export function listen(server: ReadingServer, endpoint: string): Promise<void> {
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
  server: Server,
  handlers: RuntimeHandlers,
  options: CriServiceOptions = {},
): void {
  addService<RuntimeServiceMethods>(server, 'RuntimeService', { handlers, ...options });
}

export function addImageService(
  server: Server,
  handlers: ImageHandlers,
  options: CriServiceOptions = {},
): void {
  addService<ImageServiceMethods>(server, 'ImageService', { handlers, ...options });
}

type AnyHandler = (request: object, call: CriCall) => unknown;

function addService<M extends ServiceMethods<M>>(
  server: Server,
  service: 'RuntimeService' | 'ImageService',
  { handlers, finishedSteps }: CriServiceOptions & { handlers: CriHandlers<M> },
): void {
  const definition = serviceDefinition(service);
  const table = handlers as Record<string, AnyHandler | undefined>;
  const implementation: UntypedServiceImplementation = {};
  for (const [name, method] of Object.entries(definition)) {
    const handler: AnyHandler = (request, call) => {
      const own = table[name];
      if (!own) throw new CriError('UNIMPLEMENTED', `method ${method.path.split('/')[2]} not implemented`);
      return own.call(handlers, request, call);
    };
    implementation[name] = method.responseStream ? streaming(handler) : unary(handler, finishedSteps);
  }
  server.addService(definition, implementation);
}

type UnaryAnswer = (error: object | null, value?: object | null, trailer?: Metadata) => void;

function unary(handler: AnyHandler, finishedSteps: CriServiceOptions['finishedSteps']) {
  return (call: ServerUnaryCall<object, object>, callback: UnaryAnswer) => {
    const context = callContext(call);
    const run = async () => {
      let answer: { error: object | null; value?: object };
      try {
        answer = { error: null, value: ((await handler(call.request, context)) ?? {}) as object };
      } catch (error) {
        answer = { error: toStatus(error) };
      }
      const steps = context.traceParent && finishedSteps ? await finishedSteps() : [];
      const trailer = new Metadata();
      if (steps.length > 0) trailer.set(stepsTrailer, Buffer.from(JSON.stringify(steps.slice(0, maxSteps))));
      if (answer.error) callback({ ...answer.error, metadata: trailer });
      else callback(null, answer.value, trailer);
    };
    run().catch((error: unknown) => callback(toStatus(error)));
  };
}

function streaming(handler: AnyHandler) {
  return (call: ServerWritableStream<object, object>) => {
    const context = callContext(call);
    const run = async () => {
      for await (const message of handler(call.request, context) as AsyncIterable<object>) {
        if (!call.write(message)) await once(call, 'drain', { signal: context.signal });
      }
    };
    run().then(
      () => call.end(),
      (error: unknown) => {
        if (!context.signal.aborted) call.emit('error', toStatus(error));
      },
    );
  };
}

function callContext(call: ServerUnaryCall<object, object> | ServerWritableStream<object, object>): CriCall {
  const [traceParent] = call.metadata.get('traceparent');
  let controller: AbortController | undefined;
  return {
    // Made when first asked for: most calls never look at it, and every one that ends is "cancelled" once more.
    get signal() {
      if (!controller) {
        const made = (controller = new AbortController());
        const abort = () => made.abort(new CriError('CANCELLED', 'call cancelled'));
        if (call.cancelled) abort();
        else call.on('cancelled', abort);
      }
      return controller.signal;
    },
    traceParent: traceParent?.toString(),
  };
}

function toStatus(error: unknown): { code: number; details: string; metadata: Metadata } {
  const code = error instanceof CriError ? status[error.code] : status.UNKNOWN;
  const details = error instanceof Error ? error.message : String(error);
  return { code, details, metadata: new Metadata() };
}
