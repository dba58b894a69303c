import type { Duplex } from 'node:stream';
import { linkSignals, LruMap, type Clock, type Logger } from '@tinkernetes/component-base';
import type { IncomingConnection, RuleEndpoint, VnetClient } from '@tinkernetes/vnet';

export interface PortalDeps {
  vnet: VnetClient;
  clock: Clock;
  logger: Logger;
  /** Closes all portals. */
  signal: AbortSignal;
}

interface Affinity {
  endpoint: RuleEndpoint;
  usedAt: number;
}

/** An endpoint that does not take a connection in this time is passed over for the next. */
const dialTimeoutMs = 1000;

/** Clients that a portal remembers; those not heard of for longest are forgotten first. */
const maxAffinities = 10_000;

/** A port of this process on the node, whose connections are joined with the endpoints of one rule in turn. */
export class Portal {
  private endpoints: readonly RuleEndpoint[] = [];
  private affinitySeconds = 0;
  private next = 0;
  private readonly affinities = new LruMap<string, Affinity>(maxAffinities);
  private readonly closing = new AbortController();

  private constructor(
    private readonly deps: PortalDeps,
    readonly name: string,
  ) {}

  static async open(deps: PortalDeps, name: string): Promise<{ portal: Portal; port: number }> {
    const portal = new Portal(deps, name);
    const { address, connections } = await deps.vnet.listen({
      port: 0,
      signal: linkSignals(deps.signal, portal.closing.signal).signal,
    });
    void portal.serveAll(connections);
    return { portal, port: address.port };
  }

  use(endpoints: readonly RuleEndpoint[], affinitySeconds = 0): void {
    this.endpoints = endpoints;
    this.affinitySeconds = affinitySeconds;
  }

  /** Takes no more connections; those that are there go on. */
  close(): void {
    this.closing.abort(new Error('the Service has changed'));
  }

  private async serveAll(connections: AsyncIterable<IncomingConnection>): Promise<void> {
    try {
      for await (const connection of connections) void this.serve(connection);
    } catch (error) {
      this.deps.logger.warn({ err: error, service: this.name }, 'portal failed');
    }
  }

  private async serve({ remote, stream }: IncomingConnection): Promise<void> {
    stream.on('error', () => stream.destroy());
    for (const endpoint of this.candidates(remote.host)) {
      try {
        const backend = await this.deps.vnet.dial({
          host: endpoint.address,
          port: endpoint.port,
          timeoutMs: dialTimeoutMs,
        });
        this.remember(remote.host, endpoint);
        join(stream, backend);
        return;
      } catch (error) {
        this.deps.logger.debug({ err: error, service: this.name }, 'endpoint not reached, trying the next');
      }
    }
    stream.destroy();
  }

  /** The client's own endpoint first, then all in turn. */
  private candidates(client: string): readonly RuleEndpoint[] {
    const { endpoints } = this;
    const start = endpoints.length === 0 ? 0 : this.next++ % endpoints.length;
    const inTurn = [...endpoints.slice(start), ...endpoints.slice(0, start)];
    const kept = this.affinities.get(client);
    const now = this.deps.clock.monotonic();
    if (!kept || now - kept.usedAt > this.affinitySeconds * 1000) return inTurn;
    const known = inTurn.find((e) => e.address === kept.endpoint.address && e.port === kept.endpoint.port);
    return known ? [known, ...inTurn.filter((e) => e !== known)] : inTurn;
  }

  private remember(client: string, endpoint: RuleEndpoint): void {
    if (this.affinitySeconds === 0) return;
    this.affinities.set(client, { endpoint, usedAt: this.deps.clock.monotonic() });
  }
}

/** Copies both ways; an end is passed on, a failure closes both. */
function join(a: Duplex, b: Duplex): void {
  b.on('error', () => b.destroy());
  a.once('close', () => b.destroy());
  b.once('close', () => (a.writableEnded ? undefined : a.destroy()));
  a.pipe(b);
  b.pipe(a);
}
