import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import { withLinkedSignal, type Clock } from '@tinkernetes/component-base';
import { framed, tcpMessages } from './tcp-framing';

export interface Upstream {
  host: string;
  port: number;
}

/** An upstream that has not answered by then is passed over. */
const timeoutMs = 2000;

/** Asks other name servers about names outside of the cluster, passing messages on byte by byte. */
export class Forwarder {
  constructor(
    private readonly upstreams: readonly Upstream[],
    private readonly clock: Clock,
  ) {}

  /** The first upstream's answer. Rejects when none gives one. */
  async forward(query: Buffer, transport: 'udp' | 'tcp', signal: AbortSignal): Promise<Buffer> {
    let failure: unknown = new Error('no upstream name server');
    for (const upstream of this.upstreams) {
      signal.throwIfAborted();
      const limit = new AbortController();
      const timer = this.clock.setTimeout(
        () => limit.abort(new Error(`${upstream.host} did not answer`)),
        timeoutMs,
      );
      try {
        return await withLinkedSignal([signal, limit.signal], (ended) =>
          ask(transport, upstream, { query, signal: ended }),
        );
      } catch (error) {
        failure = error;
      } finally {
        timer.cancel();
      }
    }
    throw failure;
  }
}

interface Exchange {
  query: Buffer;
  signal: AbortSignal;
}

function ask(transport: 'udp' | 'tcp', upstream: Upstream, exchange: Exchange): Promise<Buffer> {
  return transport === 'udp' ? askByUDP(upstream, exchange) : askByTCP(upstream, exchange);
}

function askByUDP({ host, port }: Upstream, { query, signal }: Exchange): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // A socket, and so a port, for each query makes answers hard to forge.
    const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
    let finished = false;
    const finish = (settle: () => void) => {
      if (finished) return;
      finished = true;
      signal.removeEventListener('abort', onAbort);
      socket.close();
      settle();
    };
    const fail = (error: Error) => finish(() => reject(error));
    const onAbort = () => fail(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('error', fail);
    socket.on('message', (answer) => {
      if (answer.length >= 2 && answer.readUInt16BE(0) === query.readUInt16BE(0))
        finish(() => resolve(answer));
    });
    socket.bind(0, () => socket.send(query, port, host));
  });
}

async function askByTCP({ host, port }: Upstream, { query, signal }: Exchange): Promise<Buffer> {
  const socket = connect({ host, port, signal });
  socket.write(framed(query));
  for await (const answer of tcpMessages(socket)) return answer;
  throw new Error(`${host} closed the connection without an answer`);
}
