import {
  Metadata,
  type sendUnaryData,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServerWritableStream,
} from '@grpc/grpc-js';
import { pipeline } from 'node:stream';
import { ReadingServer } from '@tinkernetes/grpc';
import {
  FrameDuplex,
  NetError,
  networkService,
  toStatus,
  type AttachRequest,
  type Frame,
  type FrameCall,
  type Policy,
  type Protocol,
  type Route,
  type Rule,
  type TraceRequest,
} from '@tinkernetes/vnet';
import type { TcpConnection } from './net-namespace';
import type { NodeNetwork } from './node-network';

/** A connection that nobody has taken yet; the listener's stream ends with its owner. */
type Waiting = Map<string, TcpConnection>;

type Call = ServerDuplexStream<object, object>;

/** Serves proto/vnet/v1 for the node's other processes. */
export async function serveVnet(network: NodeNetwork, endpoint: string): Promise<ReadingServer> {
  const server = new ReadingServer({ 'grpc.max_receive_message_length': 64 * 1024 * 1024 });
  const waiting: Waiting = new Map();
  let nextId = 0;
  server.addService(networkService(), {
    getNode: unary(() => network.info()),
    attach: unary((request) => network.attach(request as AttachRequest)),
    detach: unary((request) => {
      const { netns, ifname } = request as { netns: string; ifname: string };
      network.detach(netns, ifname);
      return {};
    }),
    listInterfaces: unary((request) => ({
      interfaces: [...network.namespace((request as { netns: string }).netns).interfaces.values()].map(
        (i) => ({
          ...i,
          rxBytes: i.received.bytes,
          txBytes: i.sent.bytes,
        }),
      ),
    })),
    setRules: unary((request) => {
      const { owner, rules } = request as { owner: string; rules: Rule[] };
      network.setRules(owner, rules);
      return {};
    }),
    setRoutes: unary((request) => {
      const { owner, routes } = request as { owner: string; routes: Route[] };
      network.setRoutes(owner, routes);
      return {};
    }),
    setPolicies: unary((request) => {
      const { owner, policies } = request as { owner: string; policies: Policy[] };
      network.setPolicies(owner, policies);
      return {};
    }),
    trace: unary((request) => ({ hops: network.trace(request as TraceRequest) })),
    listen: (call: ServerWritableStream<object, object>) => {
      const { host, port } = call.request as { protocol: Protocol; host: string; port: number };
      try {
        const listener = network.host.listen({ host: host || undefined, port }, (connection) => {
          const id = String((nextId += 1));
          waiting.set(id, connection);
          connection.stream.once('close', () => waiting.delete(id));
          call.write({ connection: { id, remote: connection.remote, local: connection.local } });
        });
        call.on('cancelled', () => listener.close());
        call.write({ listening: listener.address });
      } catch (error) {
        fail(call, error);
      }
    },
    dial: (call: Call) =>
      firstFrame(call, async ({ open }) => {
        if (!open) throw new NetError('ECONNREFUSED', 'dial');
        const controller = new AbortController();
        call.once('cancelled', () => controller.abort(new Error('call cancelled')));
        const { netns = '', host, port, timeoutMs } = open;
        return network
          .namespace(netns)
          .connect({ host, port, signal: controller.signal, timeoutMs: timeoutMs || undefined });
      }),
    accept: (call: Call) =>
      firstFrame(call, async ({ accept = '' }) => {
        const connection = waiting.get(accept);
        if (!connection) throw new NetError('ECONNRESET', 'accept');
        waiting.delete(accept);
        return connection;
      }),
  });
  await server.listen(endpoint);
  return server;
}

function unary(handle: (request: object) => object) {
  return (call: ServerUnaryCall<object, object>, answer: sendUnaryData<object>) => {
    try {
      answer(null, handle(call.request));
    } catch (error) {
      answer({ ...toStatus(error), metadata: new Metadata() });
    }
  };
}

/** The first frame says what to connect to; then both sides are joined. */
function firstFrame(call: Call, open: (frame: Frame) => Promise<TcpConnection>): void {
  call.once('data', (frame: Frame) => {
    call.pause();
    open(frame).then(
      ({ stream, remote, local }) => {
        call.write({ opened: { id: '', remote, local } });
        const frames = new FrameDuplex(call as unknown as FrameCall, { cancel: () => call.end() });
        pipeline(frames, stream, () => undefined);
        pipeline(stream, frames, () => undefined);
      },
      (error: unknown) => fail(call, error),
    );
  });
}

function fail(call: { emit(event: 'error', error: unknown): boolean }, error: unknown): void {
  call.emit('error', { ...toStatus(error), metadata: new Metadata() });
}
