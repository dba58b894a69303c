import {
  Client,
  credentials,
  Metadata,
  status,
  type ClientDuplexStream,
  type ServiceError,
} from '@grpc/grpc-js';
import { realClock } from '@tinkernetes/component-base';
import { Root, type INamespace, type Type } from 'protobufjs';
import { StorageUnusableError } from '../types';
import { etcdDescriptor } from './descriptor';
import { messageTypes, type UnaryCalls, type WatchRequest, type WatchResponse } from './messages';

const callTimeoutMs = 10_000;
/** Fields that don't fit a number. */
const textFields = new Set(['ID', 'lease']);

/** Calls to an etcd cluster. */
export class EtcdClient {
  private readonly client: Client;
  private readonly types = new Map<string, Type>();
  private readonly root = Root.fromJSON(etcdDescriptor as INamespace);

  /** `endpoints`: `http://127.0.0.1:2379`, tried in turn when there are several. */
  constructor(
    private readonly endpoints: readonly string[],
    readonly name: string,
  ) {
    const [first = ''] = endpoints;
    const secure = first.startsWith('https:');
    this.client = new Client(
      targetOf(endpoints),
      secure ? credentials.createSsl() : credentials.createInsecure(),
      {
        'grpc.max_receive_message_length': -1,
        'grpc.max_send_message_length': -1,
        'grpc.keepalive_time_ms': 20_000,
        'grpc.initial_reconnect_backoff_ms': 100,
        'grpc.max_reconnect_backoff_ms': 2_000,
        // Several stores of one process must not share a connection that one of them closes.
        'grpc.use_local_subchannel_pool': 1,
      },
    );
  }

  call<C extends keyof UnaryCalls>(name: C, request: UnaryCalls[C][0]): Promise<UnaryCalls[C][1]> {
    const [requestType, responseType] = messageTypes[name];
    return new Promise((resolve, reject) => {
      this.client.makeUnaryRequest(
        `/etcdserverpb.${name}`,
        (message: object) => this.encode(requestType, message),
        (bytes: Buffer) => this.decode(responseType, bytes),
        request,
        new Metadata({ waitForReady: true }),
        { deadline: realClock.now() + callTimeoutMs },
        (error, response) => {
          if (error) reject(this.translate(error));
          else resolve(response as UnaryCalls[C][1]);
        },
      );
    });
  }

  watch(): ClientDuplexStream<WatchRequest, WatchResponse> {
    const [requestType, responseType] = messageTypes['Watch/Watch'];
    return this.client.makeBidiStreamRequest<WatchRequest, WatchResponse>(
      '/etcdserverpb.Watch/Watch',
      (message) => this.encode(requestType, message),
      (bytes) => this.decode(responseType, bytes) as WatchResponse,
      new Metadata({ waitForReady: true }),
    );
  }

  close(): void {
    this.client.close();
  }

  private type(name: string): Type {
    const known = this.types.get(name) ?? this.root.lookupType(`etcdserverpb.${name}`);
    this.types.set(name, known);
    return known;
  }

  private encode(type: string, message: object): Buffer {
    return Buffer.from(this.type(type).encode(this.type(type).fromObject(message)).finish());
  }

  private decode(type: string, bytes: Buffer): unknown {
    const plain = this.type(type).toObject(this.type(type).decode(bytes), {
      longs: String,
      defaults: true,
      arrays: true,
    });
    return withNumbers(plain);
  }

  /** OUT_OF_RANGE is for the caller, who knows which revision was asked for. */
  private translate(error: ServiceError): Error {
    if (error.code === status.OUT_OF_RANGE) return error;
    return new StorageUnusableError(
      `${this.name} can't be used (${error.details || error.message}): check that etcd runs at ${this.endpoints.join(', ')}`,
      { cause: error },
    );
  }
}

export const isOutOfRange = (error: unknown): boolean =>
  error instanceof Error && (error as Partial<ServiceError>).code === status.OUT_OF_RANGE;

/** IP addresses can be given as a list; of host names, gRPC takes one. */
function targetOf(endpoints: readonly string[]): string {
  const hosts = endpoints.map((endpoint) => new URL(endpoint).host);
  const areAddresses = hosts.every((host) => /^[\d.]+:\d+$/.test(host));
  return areAddresses ? `ipv4:${hosts.join(',')}` : (hosts[0] ?? '');
}

function withNumbers(value: unknown, field = ''): unknown {
  if (Array.isArray(value)) return value.map((entry) => withNumbers(entry));
  if (value instanceof Uint8Array) return value;
  if (typeof value === 'string' && !textFields.has(field) && /^\d+$/.test(value)) return Number(value);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, withNumbers(entry, key)]));
}
