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
import { descriptor } from './generated/descriptor';
import { messageTypes, type UnaryCalls, type WatchRequest, type WatchResponse } from './messages';

/** PEM: who the servers must be, and who this client is. */
export interface EtcdTls {
  ca?: Buffer;
  cert?: Buffer;
  key?: Buffer;
}
export interface EtcdClientOptions {
  /** `http://127.0.0.1:2379`, tried in turn when there are several. */
  endpoints: readonly string[];
  /** For messages; without a password. */
  name: string;
  tls?: EtcdTls;
  /** Where etcd asks for one (`etcdctl auth enable`). */
  user?: { name: string; password: string };
}

const callTimeoutMs = 10_000;
/** Fields that don't fit a number. */
const textFields = new Set(['ID', 'lease', 'token']);

/** Calls to an etcd cluster. */
export class EtcdClient {
  private readonly client: Client;
  private readonly types = new Map<string, Type>();
  private readonly root = Root.fromJSON(descriptor as INamespace);
  /** Of the user; asked for when the first call needs it, and anew when etcd has forgotten it. */
  private token: Promise<string> | undefined;

  constructor(private readonly options: EtcdClientOptions) {
    const { endpoints, tls } = options;
    const secure = endpoints[0]?.startsWith('https:') ?? false;
    this.client = new Client(
      targetOf(endpoints),
      secure
        ? credentials.createSsl(tls?.ca ?? null, tls?.key ?? null, tls?.cert ?? null)
        : credentials.createInsecure(),
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

  async call<C extends keyof UnaryCalls>(name: C, request: UnaryCalls[C][0]): Promise<UnaryCalls[C][1]> {
    try {
      return await this.callOnce(name, request, await this.metadata());
    } catch (error) {
      if (!this.token || !isTokenRefused(error)) throw this.translate(error);
      this.token = undefined;
      return await this.callOnce(name, request, await this.metadata()).catch((again: unknown) => {
        throw this.translate(again);
      });
    }
  }

  async watch(): Promise<ClientDuplexStream<WatchRequest, WatchResponse>> {
    const [requestType, responseType] = messageTypes['Watch/Watch'];
    const stream = this.client.makeBidiStreamRequest<WatchRequest, WatchResponse>(
      '/etcdserverpb.Watch/Watch',
      (message) => this.encode(requestType, message),
      (bytes) => this.decode(responseType, bytes) as WatchResponse,
      await this.metadata(),
    );
    stream.on('error', (error) => {
      if (isTokenRefused(error)) this.token = undefined;
    });
    return stream;
  }

  close(): void {
    this.client.close();
  }

  private callOnce<C extends keyof UnaryCalls>(
    name: C,
    request: UnaryCalls[C][0],
    metadata: Metadata,
  ): Promise<UnaryCalls[C][1]> {
    const [requestType, responseType] = messageTypes[name];
    return new Promise((resolve, reject) => {
      this.client.makeUnaryRequest(
        `/etcdserverpb.${name}`,
        (message: object) => this.encode(requestType, message),
        (bytes: Buffer) => this.decode(responseType, bytes),
        request,
        metadata,
        { deadline: realClock.now() + callTimeoutMs },
        (error, response) => {
          if (error) reject(error);
          else resolve(response as UnaryCalls[C][1]);
        },
      );
    });
  }

  private async metadata(): Promise<Metadata> {
    const metadata = new Metadata({ waitForReady: true });
    const { user } = this.options;
    if (!user) return metadata;
    this.token ??= this.callOnce('Auth/Authenticate', user, new Metadata({ waitForReady: true })).then(
      ({ token }) => token,
    );
    try {
      metadata.set('token', await this.token);
    } catch (error) {
      this.token = undefined;
      throw this.translate(error);
    }
    return metadata;
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
  private translate(error: unknown): unknown {
    if (!(error instanceof Error) || isOutOfRange(error) || error instanceof StorageUnusableError)
      return error;
    const { code, details = error.message } = error as Partial<ServiceError>;
    const { name, endpoints } = this.options;
    return new StorageUnusableError(
      `${name} can't be used (${details}): ${adviceFor(code, details, endpoints)}`,
      {
        cause: error,
      },
    );
  }
}

function adviceFor(code: status | undefined, details: string, endpoints: readonly string[]): string {
  if (code === status.UNAUTHENTICATED || code === status.PERMISSION_DENIED || details.includes('auth'))
    return 'check the user and the password in its address, and that the user may read and write all keys';
  if (details.includes('certificate') || details.includes('SSL'))
    return 'check --etcd-cafile, --etcd-certfile and --etcd-keyfile';
  return `check that etcd runs at ${endpoints.join(', ')}${endpoints[0]?.startsWith('https:') ? ' and takes --etcd-certfile' : ''}`;
}

export const isOutOfRange = (error: unknown): boolean =>
  error instanceof Error && (error as Partial<ServiceError>).code === status.OUT_OF_RANGE;

/** The token has run out, or etcd was started anew. */
const isTokenRefused = (error: unknown): boolean =>
  error instanceof Error && (error as Partial<ServiceError>).code === status.UNAUTHENTICATED;

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
