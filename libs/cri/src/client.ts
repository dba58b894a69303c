import {
  Client,
  credentials,
  Metadata,
  status,
  type ClientReadableStream,
  type ServiceError,
} from '@grpc/grpc-js';
import { linkSignals, realClock, type FinishedStep } from '@tinkernetes/component-base';
import { CriError, type CriErrorCode } from './cri-error';
import type { ImageServiceMethods, RuntimeServiceMethods } from './generated/types';
import { serviceDefinition } from './service';
import { stepsTrailer } from './steps-trailer';
import type { DeepPartial, MethodTypes, ServiceMethods } from './types';

export interface CriCallOptions {
  signal?: AbortSignal;
  /** The call fails with DEADLINE_EXCEEDED after this time; left out: the client's default; 0: never. */
  timeoutMs?: number;
  /** W3C trace context, sent as the metadata entry `traceparent`. */
  traceParent?: string;
  /** Waits for the runtime's socket to appear instead of failing with UNAVAILABLE. */
  waitForReady?: boolean;
}

type Method<M extends MethodTypes> = M['serverStreaming'] extends true
  ? (request?: DeepPartial<M['request']>, options?: CriCallOptions) => AsyncIterable<M['response']>
  : (request?: DeepPartial<M['request']>, options?: CriCallOptions) => Promise<M['response']>;

/** Promise methods for unary calls, async iterables for server streams. All reject with CriError. */
export type CriClient<M extends ServiceMethods<M>> = { readonly [K in keyof M]: Method<M[K]> } & {
  close(): void;
};
export type RuntimeClient = CriClient<RuntimeServiceMethods>;
export type ImageClient = CriClient<ImageServiceMethods>;

export interface CriClientOptions {
  /** Default deadline of unary calls; upstream's --runtime-request-timeout. */
  timeoutMs?: number;
  /** Ends all calls of the client. */
  signal?: AbortSignal;
  /** Gets the steps that the runtime recorded for a traced call. */
  onSteps?(steps: readonly FinishedStep[]): void;
}

/** upstream's kubelet: 16 MiB messages, reconnects at most every 3 s (pkg/kubelet, cri-client). */
const channelOptions = {
  'grpc.max_receive_message_length': 16 * 1024 * 1024,
  'grpc.initial_reconnect_backoff_ms': 50,
  'grpc.min_reconnect_backoff_ms': 50,
  'grpc.max_reconnect_backoff_ms': 3000,
  'grpc.default_authority': 'localhost',
};

/** `endpoint`: `unix:///run/containerd/containerd.sock`. */
export function createRuntimeClient(endpoint: string, options: CriClientOptions = {}): RuntimeClient {
  return createClient<RuntimeServiceMethods>('RuntimeService', endpoint, options);
}

export function createImageClient(endpoint: string, options: CriClientOptions = {}): ImageClient {
  return createClient<ImageServiceMethods>('ImageService', endpoint, options);
}

function createClient<M extends ServiceMethods<M>>(
  service: 'RuntimeService' | 'ImageService',
  endpoint: string,
  { timeoutMs = 120_000, signal: clientSignal, onSteps }: CriClientOptions,
): CriClient<M> {
  const channel = new Client(endpoint, credentials.createInsecure(), channelOptions);
  const methods: Record<string, unknown> = { close: () => channel.close() };
  for (const [name, method] of Object.entries(serviceDefinition(service))) {
    const { path, requestSerialize: serialize, responseDeserialize: deserialize } = method;
    methods[name] = method.responseStream
      ? (request: object = {}, options: CriCallOptions = {}) =>
          readStream(
            () =>
              channel.makeServerStreamRequest(path, serialize, deserialize, request, metadataOf(options), {
                deadline: deadlineOf(options.timeoutMs ?? 0),
              }),
            [options.signal, clientSignal],
          )
      : (request: object = {}, options: CriCallOptions = {}) =>
          new Promise((resolve, reject) => {
            const { signal, release } = linkSignals(options.signal, clientSignal);
            if (signal.aborted) return reject(signal.reason as Error);
            const abort = () => call.cancel();
            const call = channel.makeUnaryRequest(
              path,
              serialize,
              deserialize,
              request,
              metadataOf(options),
              { deadline: deadlineOf(options.timeoutMs ?? timeoutMs) },
              (error, value) => {
                release();
                if (error) reject(toCriError(error, signal));
                else resolve(value);
              },
            );
            signal.addEventListener('abort', abort, { once: true });
            if (onSteps && options.traceParent) {
              call.once('status', ({ metadata }) => {
                const [json] = metadata.get(stepsTrailer);
                if (json) onSteps(JSON.parse(json.toString()) as FinishedStep[]);
              });
            }
          });
  }
  return methods as CriClient<M>;
}

/** The call starts with the first `next()` and is cancelled when the consumer stops or the signal aborts. */
async function* readStream(
  start: () => ClientReadableStream<unknown>,
  sources: readonly (AbortSignal | undefined)[],
): AsyncGenerator<unknown> {
  const { signal, release } = linkSignals(...sources);
  if (signal.aborted) throw signal.reason;
  const call = start();
  const abort = () => call.cancel();
  signal.addEventListener('abort', abort, { once: true });
  try {
    yield* call as AsyncIterable<unknown>;
  } catch (error) {
    throw toCriError(error as ServiceError, signal);
  } finally {
    release();
    call.cancel();
  }
}

function metadataOf({ traceParent, waitForReady }: CriCallOptions): Metadata {
  const metadata = new Metadata({ waitForReady: waitForReady ?? false });
  if (traceParent) metadata.set('traceparent', traceParent);
  return metadata;
}

/** grpc-js takes an instant; deadlines are real time whatever clock the component runs on. */
function deadlineOf(timeoutMs: number): Date | undefined {
  return timeoutMs > 0 ? new Date(realClock.now() + timeoutMs) : undefined;
}

function toCriError(error: ServiceError, signal: AbortSignal): Error {
  if (signal.aborted && error.code === status.CANCELLED) return signal.reason as Error;
  if (typeof error.code !== 'number') return error;
  // In Go's words, which users know from events; grpc-js tells how long it has waited for what.
  const message = error.code === status.DEADLINE_EXCEEDED ? 'context deadline exceeded' : error.details;
  return new CriError(status[error.code] as CriErrorCode, message, { cause: error });
}
