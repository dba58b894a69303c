import * as https from 'node:https';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { realClock } from '@tinkernetes/component-base';

/** A server that issues no sessions is not waited for any longer. */
const defaultPatienceMs = 100;

type Waiter = (error: Error | null) => void;

/**
 * The TLS session that connections of one identity to one server resume: half the work of a handshake, for both sides.
 * Until the first connection has brought one, others had better wait.
 */
export class SharedSession {
  private session: Buffer | undefined;
  private isExpected = false;
  private waiting: Waiter[] = [];

  /** `patienceMs`: how long after the first handshake a session is waited for. */
  constructor(private readonly patienceMs = defaultPatienceMs) {}

  /** For a connection's options. */
  get resumed(): { session?: Buffer } {
    return this.session ? { session: this.session } : {};
  }

  /** Learns from a connection that is being made. */
  follow(socket: TLSSocket): void {
    socket.on('session', (session) => {
      this.session = session;
      this.release(null);
    });
    if (this.session || this.isExpected) return;
    this.isExpected = true;
    socket.once('close', () => this.release(null));
    socket.once('secureConnect', () => {
      // The session comes behind the handshake.
      realClock.setTimeout(() => this.release(null), this.patienceMs, { unref: true });
    });
  }

  /** Calls back when there is a session or none will come. False: no need to wait. */
  await(waiter: Waiter): boolean {
    if (this.session || !this.isExpected) return false;
    this.waiting.push(waiter);
    return true;
  }

  close(): void {
    this.release(new Error('the client was closed'));
  }

  private release(error: Error | null): void {
    this.isExpected = false;
    for (const waiter of this.waiting.splice(0)) waiter(error);
  }
}

export interface ResumingAgentOptions extends https.AgentOptions {
  /** Where many connections begin at once that are not limited in number: they wait for the session of the first. */
  waits?: boolean;
}

/** Agents that are given the same `SharedSession` resume each other's. */
export class ResumingAgent extends https.Agent {
  constructor(
    private readonly settings: ResumingAgentOptions,
    private readonly shared: SharedSession,
  ) {
    super(settings);
  }

  override createConnection(
    options: Parameters<https.Agent['createConnection']>[0],
    callback?: Parameters<https.Agent['createConnection']>[1],
  ): Duplex | null | undefined {
    const connect = (): Duplex | null | undefined => {
      const resuming: typeof options & { session?: Buffer } = { ...options, ...this.shared.resumed };
      const socket = super.createConnection(resuming);
      this.shared.follow(socket as TLSSocket);
      return socket;
    };
    const later = (error: Error | null): void => {
      // Node's agent takes no socket beside an error.
      if (error) callback?.(error, undefined as unknown as Duplex);
      else callback?.(null, connect() as Duplex);
    };
    if (this.settings.waits && callback && this.shared.await(later)) return undefined;
    return connect();
  }
}
