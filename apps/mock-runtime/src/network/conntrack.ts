import type { Clock } from '@tinkernetes/component-base';
import type { Address, Protocol } from '@tinkernetes/vnet';

/** A tracked flow: as its sender sees it (original) and as the other side answers it (reply). */
export interface ConntrackEntry {
  readonly protocol: Protocol;
  readonly source: Address;
  readonly destination: Address;
  /** After NAT. */
  readonly replySource: Address;
  readonly replyDestination: Address;
  /** Name of the NAT rule that made it. */
  readonly rule?: string;
  expires: number;
}

/** nf_conntrack_udp_timeout_stream: a UDP flow without traffic is forgotten after this time. */
const udpTimeoutMs = 120_000;
/** So many flows are tracked before the silent ones among them are looked for. */
const firstSweepAt = 1024;

const keyOf = (protocol: Protocol, from: Address, to: Address): string =>
  `${protocol}|${from.host}:${from.port}|${to.host}:${to.port}`;

/** Flows whose addresses were translated; TCP flows live as long as their streams, UDP flows until they fall silent. */
export class Conntrack {
  private readonly original = new Map<string, ConntrackEntry>();
  private readonly reply = new Map<string, ConntrackEntry>();
  private sweepAt = firstSweepAt;

  constructor(private readonly clock: Clock) {}

  add(entry: Omit<ConntrackEntry, 'expires'>): ConntrackEntry {
    if (this.original.size >= this.sweepAt) this.sweep();
    const expires = entry.protocol === 'UDP' ? this.clock.now() + udpTimeoutMs : Number.POSITIVE_INFINITY;
    const tracked: ConntrackEntry = { ...entry, expires };
    this.original.set(keyOf(entry.protocol, entry.source, entry.destination), tracked);
    this.reply.set(keyOf(entry.protocol, entry.replySource, entry.replyDestination), tracked);
    return tracked;
  }

  remove(entry: ConntrackEntry): void {
    this.original.delete(keyOf(entry.protocol, entry.source, entry.destination));
    this.reply.delete(keyOf(entry.protocol, entry.replySource, entry.replyDestination));
  }

  findOriginal(protocol: Protocol, from: Address, to: Address): ConntrackEntry | undefined {
    return this.touch(this.original.get(keyOf(protocol, from, to)));
  }

  findReply(protocol: Protocol, from: Address, to: Address): ConntrackEntry | undefined {
    return this.touch(this.reply.get(keyOf(protocol, from, to)));
  }

  entries(): readonly ConntrackEntry[] {
    return [...this.original.values()];
  }

  /** What kube-proxy does after a UDP endpoint went away: its flows must not go on pointing at it. */
  forgetUdp(isStale: (entry: ConntrackEntry) => boolean): void {
    for (const entry of this.entries()) if (entry.protocol === 'UDP' && isStale(entry)) this.remove(entry);
  }

  private touch(entry: ConntrackEntry | undefined): ConntrackEntry | undefined {
    if (!entry) return undefined;
    const now = this.clock.now();
    if (entry.expires <= now) {
      this.remove(entry);
      return undefined;
    }
    if (entry.protocol === 'UDP') entry.expires = now + udpTimeoutMs;
    return entry;
  }

  private sweep(): void {
    const now = this.clock.now();
    for (const entry of this.entries()) if (entry.expires <= now) this.remove(entry);
    // Most may be TCP's, which stay: looking again at each new flow would cost more the more there are.
    this.sweepAt = Math.max(firstSweepAt, this.original.size * 2);
  }
}
