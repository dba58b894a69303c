import type { Duplex } from 'node:stream';

export interface DialTarget {
  /** An IP address or, for `host` dialers, a host name. */
  host: string;
  port: number;
  signal?: AbortSignal;
  timeoutMs?: number;
}

/**
 * Opens TCP connections: in the real network (`host`, for real runtimes) or in the emulated one (`vnet`). A refused
 * connection rejects with an Error whose `code` is ECONNREFUSED, a time-out with ETIMEDOUT, as `net.connect` does.
 */
export interface Dialer {
  dial(target: DialTarget): Promise<Duplex>;
}
