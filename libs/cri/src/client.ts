import type { FinishedStep } from '@tinkernetes/component-base';
import { GrpcClient, metadataValue, RpcError, type CallOptions } from '@tinkernetes/grpc';
import { CriError } from './cri-error';
import type { ImageServiceMethods, RuntimeServiceMethods } from './generated/types';
import { serviceDefinition } from './service';
import { stepsTrailer } from './steps-trailer';
import type { DeepPartial, MethodTypes, ServiceMethods } from './types';

export interface CriCallOptions {
  signal?: AbortSignal;
  /** The call fails with DEADLINE_EXCEEDED after this time; left out: the client's default; 0: never. */
  timeoutMs?: number;
  /** The client's default so many times, in place of `timeoutMs`. */
  timeoutTimes?: number;
  /** The client's default and this besides, in place of `timeoutMs`: for calls that wait by themselves. */
  timeoutBesidesMs?: number;
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

/** Source: pkg/kubelet, cri-client. */
const longestMessage = 16 * 1024 * 1024;

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
  { timeoutMs = 120_000, signal, onSteps }: CriClientOptions,
): CriClient<M> {
  const client = new GrpcClient(endpoint, { longestMessage, signal });
  const methods: Record<string, unknown> = { close: () => client.close() };
  for (const [name, method] of Object.entries(serviceDefinition(service))) {
    methods[name] = method.responseStream
      ? (request: object = {}, options: CriCallOptions = {}) =>
          inCriErrors(client.serverStream(method, request, callOptions(options)))
      : async (request: object = {}, options: CriCallOptions = {}) => {
          const { error, message, trailers } = await client.unary(
            method,
            request,
            callOptions({ timeoutMs: defaultFor(options, timeoutMs), ...options }),
          );
          if (onSteps && options.traceParent) {
            const json = metadataValue(trailers, stepsTrailer);
            if (json) onSteps(JSON.parse(json.toString()) as FinishedStep[]);
          }
          if (error) throw toCriError(error);
          return message;
        };
  }
  return methods as CriClient<M>;
}

/** Of a unary call that names no time itself. */
const defaultFor = ({ timeoutTimes = 1, timeoutBesidesMs = 0 }: CriCallOptions, timeoutMs: number): number =>
  timeoutMs * timeoutTimes + timeoutBesidesMs;

const callOptions = ({ traceParent, ...options }: CriCallOptions): CallOptions =>
  traceParent ? { ...options, metadata: { traceparent: traceParent } } : options;

async function* inCriErrors(messages: AsyncIterable<object>): AsyncGenerator<object> {
  try {
    yield* messages;
  } catch (error) {
    throw toCriError(error as Error);
  }
}

function toCriError(error: Error): Error {
  if (!(error instanceof RpcError)) return error;
  // In Go's words, which users know from events.
  const message = error.status === 'DEADLINE_EXCEEDED' ? 'context deadline exceeded' : error.message;
  return new CriError(error.status, message, { cause: error });
}
