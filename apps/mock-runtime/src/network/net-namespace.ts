import { NetError, type Address } from '@tinkernetes/vnet';
import type { Duplex } from 'node:stream';
import { isLoopback, parseAddress } from './ipv4';
import type { ByteCounter } from './virtual-socket';

export interface TcpConnection {
  stream: Duplex;
  local: Address;
  remote: Address;
}

export interface TcpListener {
  readonly address: Address;
  close(): void;
}

export interface Packet {
  source: Address;
  destination: Address;
  data: Uint8Array;
}

export interface UdpSocket {
  readonly address: Address;
  send(data: Uint8Array, to: Address): void;
  close(): void;
}

export interface ConnectTarget {
  host: string;
  port: number;
  signal?: AbortSignal;
  timeoutMs?: number;
}

/** What a namespace hands its traffic to: the node's network. */
export interface Uplink {
  connect(from: NetNamespace, target: ConnectTarget): Promise<TcpConnection>;
  send(from: NetNamespace, packet: Packet): void;
}

export interface NetInterface {
  readonly name: string;
  readonly mac: string;
  /** CIDR notation. */
  readonly addresses: readonly string[];
  readonly bridge: string;
  readonly hostIfname: string;
  readonly hostMac: string;
  readonly received: ByteCounter;
  readonly sent: ByteCounter;
}

type Acceptor = (connection: TcpConnection) => void;
type Receiver = (packet: Packet) => void;

const firstEphemeralPort = 32768;
const lastEphemeralPort = 60999;
const anyAddress = '0.0.0.0';

/** A network namespace: interfaces and open ports. The node's own one holds the node's addresses. */
export class NetNamespace {
  readonly interfaces = new Map<string, NetInterface>();
  /** Names of bridges that programs made inside it; they join nothing. */
  readonly bridges = new Set<string>();
  private readonly acceptors = new Map<string, Acceptor>();
  /** Who has asked that nobody gets in. */
  private readonly refusing = new Set<object>();
  private readonly receivers = new Map<string, Receiver>();
  private nextPort = firstEphemeralPort;

  constructor(
    /** CNI_NETNS; empty for the node's own namespace. */
    readonly path: string,
    private readonly uplink: Uplink,
  ) {}

  /** Addresses without prefix length, in the order of the interfaces. */
  addresses(): string[] {
    return [...this.interfaces.values()].flatMap((i) => i.addresses.map((a) => a.split('/')[0] ?? ''));
  }

  primaryAddress(): string {
    return this.addresses()[0] ?? '127.0.0.1';
  }

  owns(host: string): boolean {
    const value = parseAddress(host);
    return value !== undefined && (isLoopback(value) || this.addresses().includes(host));
  }

  /** Throws NetError EADDRINUSE. Port 0: any free one. */
  listen({ host = anyAddress, port }: { host?: string; port: number }, accept: Acceptor): TcpListener {
    const bound = port === 0 ? this.ephemeralPort(this.acceptors) : port;
    const key = `${host}:${bound}`;
    if (this.acceptors.has(key) || this.acceptors.has(`${anyAddress}:${bound}`))
      throw new NetError('EADDRINUSE', `listen tcp ${key}: bind`);
    this.acceptors.set(key, accept);
    return { address: { host, port: bound }, close: () => void this.acceptors.delete(key) };
  }

  bindUdp({ host = anyAddress, port }: { host?: string; port: number }, receive: Receiver): UdpSocket {
    const bound = port === 0 ? this.ephemeralPort(this.receivers) : port;
    const key = `${host}:${bound}`;
    if (this.receivers.has(key)) throw new NetError('EADDRINUSE', `listen udp ${key}: bind`);
    this.receivers.set(key, receive);
    const source = (to: string) => (host === anyAddress ? this.sourceFor(to) : host);
    return {
      address: { host, port: bound },
      send: (data, to) =>
        this.uplink.send(this, { data, destination: to, source: { host: source(to.host), port: bound } }),
      close: () => void this.receivers.delete(key),
    };
  }

  connect(target: ConnectTarget): Promise<TcpConnection> {
    return this.uplink.connect(this, target);
  }

  /** While somebody wants it so, new connections are refused as if nothing listened. */
  refuse(who: object, on: boolean): void {
    if (on) this.refusing.add(who);
    else this.refusing.delete(who);
  }

  acceptorFor(host: string, port: number): Acceptor | undefined {
    if (this.refusing.size > 0) return undefined;
    return this.acceptors.get(`${host}:${port}`) ?? this.acceptors.get(`${anyAddress}:${port}`);
  }

  receiverFor(host: string, port: number): Receiver | undefined {
    return this.receivers.get(`${host}:${port}`) ?? this.receivers.get(`${anyAddress}:${port}`);
  }

  listeningPorts(): Address[] {
    return [...this.acceptors.keys()].map(addressOfKey);
  }

  /** Ports of bound UDP sockets. */
  receivingPorts(): Address[] {
    return [...this.receivers.keys()].map(addressOfKey);
  }

  sourceFor(host: string): string {
    const value = parseAddress(host);
    return value !== undefined && isLoopback(value) ? '127.0.0.1' : this.primaryAddress();
  }

  /** A source port that nothing listens on. */
  ephemeralPort(taken: ReadonlyMap<string, unknown> = this.acceptors): number {
    for (let tries = 0; tries <= lastEphemeralPort - firstEphemeralPort; tries++) {
      const port = this.nextPort;
      this.nextPort = port >= lastEphemeralPort ? firstEphemeralPort : port + 1;
      if (!taken.has(`${anyAddress}:${port}`)) return port;
    }
    throw new NetError('EADDRINUSE', 'bind');
  }
}

function addressOfKey(key: string): Address {
  const at = key.lastIndexOf(':');
  return { host: key.slice(0, at), port: Number(key.slice(at + 1)) };
}
