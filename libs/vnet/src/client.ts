import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import type { Duplex } from 'node:stream';
import type { Dialer } from './dialer';
import { fromStatus } from './errors';
import { FrameDuplex, type Connection, type Frame, type FrameCall } from './frame-stream';
import { networkService, type NetworkMethod } from './service';
import type {
  Address,
  AttachRequest,
  AttachResponse,
  Hop,
  InterfaceInfo,
  NodeInfo,
  Policy,
  Protocol,
  Route,
  Rule,
  TraceRequest,
} from './types';

export interface IncomingConnection {
  remote: Address;
  local: Address;
  stream: Duplex;
}

export interface ListenTarget {
  protocol?: Protocol;
  /** Left out: every address of the node. */
  host?: string;
  /** 0: any free one. */
  port: number;
  signal: AbortSignal;
}

export interface Listener {
  /** Where it listens. */
  address: Address;
  /** Ends when the signal aborts or the node's network goes away. */
  connections: AsyncIterable<IncomingConnection>;
}

/** A node's emulated network, as netlink, iptables and sockets are on Linux. Its `dial` is the node's own view. */
export interface VnetClient extends Dialer {
  getNode(): Promise<NodeInfo>;
  attach(request: AttachRequest): Promise<AttachResponse>;
  detach(request: { netns: string; ifname: string }): Promise<void>;
  listInterfaces(netns: string): Promise<readonly InterfaceInfo[]>;
  listen(target: ListenTarget): Promise<Listener>;
  /** Replaces all rules of this owner at once. */
  setRules(owner: string, rules: readonly Rule[]): Promise<void>;
  /** Replaces all routes of this owner at once. */
  setRoutes(owner: string, routes: readonly Route[]): Promise<void>;
  /** Replaces all network policies of this owner at once. */
  setPolicies(owner: string, policies: readonly Policy[]): Promise<void>;
  trace(request: TraceRequest): Promise<readonly Hop[]>;
  close(): void;
}

const channelOptions = {
  'grpc.initial_reconnect_backoff_ms': 50,
  'grpc.min_reconnect_backoff_ms': 50,
  'grpc.max_reconnect_backoff_ms': 3000,
  'grpc.max_receive_message_length': 64 * 1024 * 1024,
  'grpc.default_authority': 'localhost',
};

/** `endpoint`: `unix:///path`. Calls wait for the socket to appear: the node's parts start in any order. */
export function createVnetClient(endpoint: string): VnetClient {
  const channel = new Client(endpoint, credentials.createInsecure(), channelOptions);
  const service = networkService();
  const metadata = new Metadata({ waitForReady: true });

  const unary = <T>(method: NetworkMethod, request: object): Promise<T> =>
    new Promise((resolve, reject) => {
      const { path, requestSerialize, responseDeserialize } = service[method];
      channel.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        metadata,
        (error: ServiceError | null, value?: object) =>
          error ? reject(fromStatus(error)) : resolve(value as T),
      );
    });

  const open = (method: 'dial' | 'accept', first: Frame, signal?: AbortSignal): Promise<Duplex> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error);
      const { path, requestSerialize, responseDeserialize } = service[method];
      const call = channel.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata);
      const abort = () => call.cancel();
      const settle = () => signal?.removeEventListener('abort', abort);
      signal?.addEventListener('abort', abort, { once: true });
      call.once('error', (error: ServiceError) => {
        settle();
        reject(signal?.aborted ? (signal.reason as Error) : fromStatus(error));
      });
      call.once('data', () => {
        settle();
        call.pause();
        resolve(new FrameDuplex(call as unknown as FrameCall, { cancel: () => call.cancel() }));
      });
      call.write(first);
    });

  return {
    getNode: () => unary<NodeInfo>('getNode', {}),
    attach: (request) => unary<AttachResponse>('attach', request),
    detach: async (request) => void (await unary('detach', request)),
    listInterfaces: async (netns) =>
      (await unary<{ interfaces: InterfaceInfo[] }>('listInterfaces', { netns })).interfaces,
    setRules: async (owner, rules) => void (await unary('setRules', { owner, rules })),
    setRoutes: async (owner, routes) => void (await unary('setRoutes', { owner, routes })),
    setPolicies: async (owner, policies) => void (await unary('setPolicies', { owner, policies })),
    trace: async (request) => (await unary<{ hops: Hop[] }>('trace', request)).hops,
    dial: ({ host, port, ...rest }) =>
      open('dial', { open: { host, port, timeoutMs: rest.timeoutMs } }, rest.signal),
    listen: ({ signal, ...target }) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason as Error);
        const { path, requestSerialize, responseDeserialize } = service.listen;
        const call = channel.makeServerStreamRequest(
          path,
          requestSerialize,
          responseDeserialize,
          target,
          metadata,
        );
        signal.addEventListener('abort', () => call.cancel(), { once: true });
        call.once('error', (error: ServiceError) => reject(fromStatus(error)));
        call.once('data', (event: { listening: Address }) => {
          call.pause();
          resolve({ address: event.listening, connections: connectionsOf(call, signal) });
        });
      }),
    close: () => channel.close(),
  };

  async function* connectionsOf(
    call: AsyncIterable<{ connection: Connection }>,
    signal: AbortSignal,
  ): AsyncGenerator<IncomingConnection> {
    try {
      for await (const { connection } of call) {
        const stream = await open('accept', { accept: connection.id });
        yield { remote: connection.remote, local: connection.local, stream };
      }
    } catch (error) {
      if (!signal.aborted) throw fromStatus(error as ServiceError);
    }
  }
}
