import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { hostDialer, type Address } from '@tinkernetes/vnet';
import type { Duplex } from 'node:stream';
import type { Clock, Timer } from '@tinkernetes/component-base';
import type { ConnectTarget, Packet } from './net-namespace';

const udpIdleMs = 30_000;

interface UdpFlow {
  socket: UdpSocket;
  idle: Timer;
}

/** Masquerading into the machine's own network: TCP by real sockets, UDP by one real socket a flow. */
export class HostNetwork {
  private readonly flows = new Map<string, UdpFlow>();

  constructor(
    private readonly clock: Clock,
    private readonly answer: (packet: Packet) => void,
  ) {}

  connect(host: string, { port, signal, timeoutMs }: ConnectTarget): Promise<Duplex> {
    return hostDialer.dial({ host, port, signal, timeoutMs });
  }

  /** `packet.destination` stays the address that the container knows; `host` is the real one. */
  send(host: string, packet: Packet): void {
    const { source, destination, data } = packet;
    const key = `${source.host}:${source.port}|${destination.host}:${destination.port}`;
    const flow = this.flows.get(key) ?? this.open(key, source, destination);
    flow.idle.cancel();
    flow.idle = this.clock.setTimeout(() => this.close(key), udpIdleMs, { unref: true });
    flow.socket.send(data, destination.port, host);
  }

  stop(): void {
    for (const key of [...this.flows.keys()]) this.close(key);
  }

  private open(key: string, source: Address, destination: Address): UdpFlow {
    const socket = createSocket('udp4');
    socket.on('message', (data) => this.answer({ source: destination, destination: source, data }));
    socket.on('error', () => this.close(key));
    const flow = { socket, idle: this.clock.setTimeout(() => this.close(key), udpIdleMs, { unref: true }) };
    this.flows.set(key, flow);
    return flow;
  }

  private close(key: string): void {
    const flow = this.flows.get(key);
    if (!flow) return;
    this.flows.delete(key);
    flow.idle.cancel();
    flow.socket.close();
  }
}
