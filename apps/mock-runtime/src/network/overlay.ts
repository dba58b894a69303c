import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Logger } from '@tinkernetes/component-base';
import { NetError, type Address, type NetErrorCode } from '@tinkernetes/vnet';
import type { Packet } from './net-namespace';
import {
  decodeHeader,
  decodePacket,
  encodeHeader,
  encodePacket,
  headerLength,
  streamAnswer,
} from './overlay-header';

export interface OverlayOptions {
  bindAddress: string;
  /** The port of the last run, so that other nodes' routes stay right; 0: any. */
  port: number;
  logger: Logger;
  /** A stream from another node. Resolves when it was taken; rejects with NetError. */
  accept(ends: { source: Address; destination: Address }, stream: Socket): Promise<void>;
  receive(packet: Packet): void;
}

export interface FlowEnds {
  source: Address;
  destination: Address;
}

/**
 * Joins the nodes over real sockets: one TCP connection a flow (the kernel's flow control is the flow's own), and one
 * UDP socket for all datagrams, both on the same port.
 */
export class Overlay {
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly options: OverlayOptions,
    private readonly server: Server,
    private readonly udp: UdpSocket,
    readonly endpoint: Address,
  ) {
    server.on('connection', (socket) => this.welcome(socket));
    udp.on('message', (bytes) => {
      const packet = decodePacket(bytes);
      if (packet) options.receive(packet);
    });
    udp.on('error', (error) => options.logger.warn({ err: error }, 'overlay datagram not sent'));
  }

  static async start(options: OverlayOptions): Promise<Overlay> {
    const wanted = options.port === 0 ? [0, 0, 0, 0, 0] : [options.port, 0, 0, 0, 0];
    let failure: unknown;
    for (const port of wanted) {
      try {
        return await Overlay.bind(options, port);
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }

  private static async bind(options: OverlayOptions, wanted: number): Promise<Overlay> {
    const server = createServer({ allowHalfOpen: true, noDelay: true });
    server.listen({ host: options.bindAddress, port: wanted });
    await once(server, 'listening');
    const bound = server.address();
    const port = bound !== null && typeof bound === 'object' ? bound.port : wanted;
    const udp = createSocket('udp4');
    try {
      udp.bind({ address: options.bindAddress, port });
      await once(udp, 'listening');
    } catch (error) {
      server.close();
      udp.close();
      throw error;
    }
    return new Overlay(options, server, udp, { host: options.bindAddress, port });
  }

  /** Opens a stream on another node. The peer may be long in answering: until the signal aborts. */
  connect(to: Address, { source, destination }: FlowEnds, signal: AbortSignal): Promise<Socket> {
    const operation = `dial tcp ${destination.host}:${destination.port}: connect`;
    return new Promise((resolve, reject) => {
      const socket = connect({ host: to.host, port: to.port, allowHalfOpen: true, noDelay: true });
      this.track(socket);
      const fail = (error: Error) => {
        socket.on('error', () => undefined).destroy();
        signal.removeEventListener('abort', giveUp);
        reject(error);
      };
      const giveUp = () => fail(signal.reason as Error);
      signal.addEventListener('abort', giveUp, { once: true });
      const lost = () => fail(new NetError('EHOSTUNREACH', operation));
      socket.once('error', lost).once('end', lost);
      socket.once('connect', () => socket.write(encodeHeader(source, destination)));
      const onReadable = () => {
        const answer = socket.read(1) as Buffer | null;
        if (!answer) return;
        socket.off('readable', onReadable).off('error', lost).off('end', lost);
        if (answer[0] === streamAnswer.open) {
          signal.removeEventListener('abort', giveUp);
          resolve(socket);
          return;
        }
        const code = (['ECONNREFUSED', 'EHOSTUNREACH', 'ETIMEDOUT'] as const).find(
          (name) => streamAnswer[name] === answer[0],
        );
        fail(new NetError(code ?? 'ECONNRESET', operation));
      };
      socket.on('readable', onReadable);
    });
  }

  send(to: Address, packet: Packet): void {
    this.udp.send(encodePacket(packet), to.port, to.host);
  }

  close(): void {
    this.server.close();
    this.udp.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private track(socket: Socket): void {
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
  }

  private welcome(socket: Socket): void {
    this.track(socket);
    const drop = () => socket.destroy();
    socket.once('error', drop);
    const onReadable = () => {
      const bytes = socket.read(headerLength) as Buffer | null;
      if (!bytes) return;
      socket.off('readable', onReadable);
      const ends = decodeHeader(bytes);
      if (!ends) {
        drop();
        return;
      }
      this.options.accept(ends, socket).catch((error: unknown) => {
        this.options.logger.debug({ err: error }, 'overlay stream refused');
        socket.end(Buffer.from([answerFor(error)]));
      });
    };
    socket.on('readable', onReadable);
  }
}

export const openAnswer = Buffer.from([streamAnswer.open]);

function answerFor(error: unknown): number {
  const code: NetErrorCode = error instanceof NetError ? error.code : 'EHOSTUNREACH';
  return code === 'ECONNREFUSED' || code === 'ETIMEDOUT' ? streamAnswer[code] : streamAnswer.EHOSTUNREACH;
}
