import { createSocket, type Socket as UdpServer } from 'node:dgram';
import { createServer, type Server, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import type { Clock, Logger, Timer } from '@tinkernetes/component-base';
import type { Rule } from '@tinkernetes/vnet';
import type { NetNamespace, UdpSocket } from './net-namespace';

const retryMs = 10_000;
/** Clients of one UDP port whose answers find back to them. */
const maxFlows = 1024;

interface Opened {
  close(): void;
}

/**
 * Opens the node ports on the machine's loopback. Several nodes of one machine want the same ports: the first has
 * them, the others try again from time to time.
 */
export class NodePorts {
  private readonly opened = new Map<string, Opened>();
  private wanted = new Map<string, Rule>();
  private retry: Timer | undefined;
  private stopped = false;

  constructor(
    private readonly host: NetNamespace,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  apply(rules: readonly Rule[]): void {
    this.wanted = new Map(rules.map((rule) => [`${rule.protocol}:${rule.port}`, rule]));
    for (const [key, port] of this.opened) {
      if (this.wanted.has(key)) continue;
      this.opened.delete(key);
      port.close();
    }
    for (const [key, rule] of this.wanted) {
      if (this.opened.has(key) || rule.protocol === 'SCTP') continue;
      this.opened.set(key, rule.protocol === 'UDP' ? this.openUdp(key, rule) : this.openTcp(key, rule));
    }
  }

  stop(): void {
    this.stopped = true;
    this.retry?.cancel();
    for (const port of this.opened.values()) port.close();
    this.opened.clear();
  }

  private openTcp(key: string, { port }: Rule): Opened {
    const clients = new Set<Socket>();
    const server: Server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
      clients.add(client);
      client.once('close', () => clients.delete(client));
      client.on('error', () => client.destroy());
      this.host.connect({ host: this.host.primaryAddress(), port }).then(
        ({ stream }) => {
          pipeline(client, stream, () => undefined);
          pipeline(stream, client, () => undefined);
        },
        () => client.resetAndDestroy(),
      );
    });
    server.on('error', (error) => this.failed(key, port, error));
    server.listen({ host: '127.0.0.1', port });
    return {
      close: () => {
        server.close();
        for (const client of clients) client.destroy();
      },
    };
  }

  private openUdp(key: string, { port }: Rule): Opened {
    const flows = new Map<string, UdpSocket>();
    const server: UdpServer = createSocket('udp4', (data, client) => {
      const id = `${client.address}:${client.port}`;
      const flow =
        flows.get(id) ??
        this.host.bindUdp({ port: 0 }, (packet) => server.send(packet.data, client.port, client.address));
      // The one that was silent longest goes first.
      flows.delete(id);
      flows.set(id, flow);
      const [oldest] = flows;
      if (oldest && flows.size > maxFlows) {
        flows.delete(oldest[0]);
        oldest[1].close();
      }
      flow.send(data, { host: this.host.primaryAddress(), port });
    });
    server.on('error', (error) => this.failed(key, port, error));
    server.bind({ address: '127.0.0.1', port });
    return {
      close: () => {
        server.close();
        for (const flow of flows.values()) flow.close();
      },
    };
  }

  private failed(key: string, port: number, error: Error): void {
    this.logger.debug({ port, err: error }, 'node port is taken on this machine');
    this.opened.delete(key);
    if (this.retry || this.stopped) return;
    this.retry = this.clock.setTimeout(
      () => {
        this.retry = undefined;
        if (!this.stopped) this.apply([...this.wanted.values()]);
      },
      retryMs,
      { unref: true },
    );
  }
}
