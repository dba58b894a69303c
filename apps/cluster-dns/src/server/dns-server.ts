import { createSocket, type Socket } from 'node:dgram';
import { createServer, isIPv6, type AddressInfo, type Server, type Socket as TCPSocket } from 'node:net';
import type { Logger } from '@tinkernetes/component-base';
import type { Transport } from './responder';
import { framed, tcpMessages } from './tcp-framing';

export interface DnsServerOptions {
  bindAddress: string;
  /** 0: any port that is free for both UDP and TCP. */
  port: number;
  respond: (message: Buffer, transport: Transport) => Promise<Buffer | undefined>;
  logger: Logger;
  signal: AbortSignal;
}

export interface DnsServer {
  port: number;
  /** Resolves when both sockets are closed. */
  stopped: Promise<void>;
}

/** A TCP connection on which nothing is asked for so long is closed (RFC 7766, 6.2.3). */
const idleTimeoutMs = 10_000;

/** A port that is free for UDP may be taken for TCP: so many are tried. */
const portTries = 20;

/** Answers on UDP and TCP at one port until the signal aborts. */
export async function serveDNS(options: DnsServerOptions): Promise<DnsServer> {
  const connections = new Set<TCPSocket>();
  const { udp, tcp } = await listen(options, (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
    socket.setTimeout(idleTimeoutMs, () => socket.destroy());
    void serveConnection(options, socket);
  });
  udp.on('error', (error) => options.logger.warn({ err: error }, 'UDP socket failed'));
  udp.on('message', (message, { address, port }) => {
    options.respond(message, 'udp').then(
      (answer) => answer && !options.signal.aborted && udp.send(answer, port, address),
      (error: unknown) => options.logger.error({ err: error }, 'query not answered'),
    );
  });
  const closed = Promise.all(
    [udp, tcp].map((s) => new Promise<void>((resolve) => s.once('close', () => resolve()))),
  );
  const stop = () => {
    udp.close();
    tcp.close();
    for (const socket of connections) socket.destroy();
  };
  if (options.signal.aborted) stop();
  else options.signal.addEventListener('abort', stop, { once: true });
  return { port: (tcp.address() as AddressInfo).port, stopped: closed.then(() => undefined) };
}

async function listen(
  { bindAddress, port }: DnsServerOptions,
  onConnection: (socket: TCPSocket) => void,
): Promise<{ udp: Socket; tcp: Server }> {
  for (let attempt = 1; ; attempt++) {
    const tcp = createServer(onConnection);
    await new Promise<void>((resolve, reject) => {
      tcp.once('error', reject);
      tcp.listen(port, bindAddress, resolve);
    });
    const udp = createSocket(isIPv6(bindAddress) ? 'udp6' : 'udp4');
    try {
      await bind(udp, (tcp.address() as AddressInfo).port, bindAddress);
      return { udp, tcp };
    } catch (error) {
      udp.close();
      tcp.close();
      if (port !== 0 || attempt >= portTries) throw error;
    }
  }
}

function bind(udp: Socket, port: number, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    udp.once('error', reject);
    udp.bind(port, address, () => {
      udp.off('error', reject);
      resolve();
    });
  });
}

async function serveConnection({ respond, logger }: DnsServerOptions, socket: TCPSocket): Promise<void> {
  try {
    for await (const message of tcpMessages(socket)) {
      const answer = await respond(message, 'tcp');
      if (!answer) break;
      socket.write(framed(answer));
    }
    socket.end();
  } catch (error) {
    logger.debug({ err: error }, 'TCP connection broke');
    socket.destroy();
  }
}
