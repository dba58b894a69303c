import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { Clock } from '../clock';
import { certificatesIn, issuedBy, isWithin, periodOf, type Period } from './certificates';
import { LoopbackSocket, type LoopbackPeer } from './loopback-socket';

/** What a TLS client is given to show, PEM. */
export interface LoopbackIdentity {
  certificate?: string;
  key?: string;
}

export interface LoopbackServer {
  /** What TLS clients are shown, PEM. */
  readonly certificate: string;
  /** Undefined where TLS is to tell the client what is wrong with its certificate. */
  identify(identity: LoopbackIdentity): LoopbackPeer | undefined;
  accept(socket: LoopbackSocket): void;
}

export interface LoopbackTarget {
  host: string;
  port: number;
  /** Whom the client believes, PEM; undefined: everybody. */
  ca: string | undefined;
  identity: LoopbackIdentity;
}

interface OfferedServer {
  server: LoopbackServer;
  certificate: X509Certificate;
  period: Period;
}

/**
 * The servers of the components that run in this process. A client beside them needs no TLS to reach them: certificates
 * are checked all the same, both ways, but nothing is encrypted that never leaves the process, as with the loopback
 * client of upstream's API server.
 */
export class LoopbackNetwork {
  private readonly servers = new Map<number, OfferedServer>();
  private readonly believed = new WeakMap<LoopbackServer, Map<string, boolean>>();

  constructor(private readonly clock: Clock) {}

  /** Returns what takes the offer back. */
  offer(port: number, server: LoopbackServer): () => void {
    const certificate = new X509Certificate(server.certificate);
    const offered = { server, certificate, period: periodOf(certificate) };
    this.servers.set(port, offered);
    return () => {
      if (this.servers.get(port) === offered) this.servers.delete(port);
    };
  }

  /** A connection, or undefined where it takes TLS: another process's server, or one of the two isn't trusted. */
  connect({ host, port, ca, identity }: LoopbackTarget): LoopbackSocket | undefined {
    const found = this.servers.get(port);
    if (!found || !this.believes(found, host, ca)) return undefined;
    const peer = found.server.identify(identity);
    if (!peer) return undefined;
    const { client, server } = LoopbackSocket.connection(port, peer);
    found.server.accept(server);
    return client;
  }

  private believes(
    { server, certificate, period }: OfferedServer,
    host: string,
    ca: string | undefined,
  ): boolean {
    let known = this.believed.get(server);
    if (!known) this.believed.set(server, (known = new Map()));
    const question = `${host} ${ca ?? ''}`;
    let answer = known.get(question);
    if (answer === undefined) {
      const isNamed = isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host);
      answer = isNamed !== undefined && (ca === undefined || issuedBy(certificate, certificatesIn(ca)));
      known.set(question, answer);
    }
    return answer && isWithin(this.clock.now(), period);
  }
}
