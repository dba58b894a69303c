import type { IncomingMessage } from 'node:http';
import type { Duplex, Readable, Writable } from 'node:stream';

/** What Node's `upgrade` event hands over. Whoever gets it owns the socket until it is closed. */
export interface UpgradeRequest {
  request: IncomingMessage;
  socket: Duplex;
  /** Bytes that arrived behind the request. */
  head: Buffer;
}

/** Which streams a client asked for; with a tty there is no separate stderr. */
export interface RemoteCommandOptions {
  stdin: boolean;
  stdout: boolean;
  stderr: boolean;
  tty: boolean;
}

export interface TerminalSize {
  width: number;
  height: number;
}

/** The other end of a command: what `kubectl exec`, `attach` and `run -it` are connected to. */
export interface RemoteCommandStreams {
  /** Ends when the client closes its input. */
  stdin?: Readable;
  stdout?: Writable;
  stderr?: Writable;
  /** Called for each size the client reports, beginning with the first (tty only). */
  onResize(listener: (size: TerminalSize) => void): void;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
}

/** Runs the command; its exit code goes to the client as a Status. A rejection does too, as an internal error. */
export type RemoteCommandHandler = (streams: RemoteCommandStreams) => Promise<{ exitCode: number }>;

export interface PortForwardConnection {
  port: number;
  /** One TCP connection's bytes, both ways. */
  stream: Duplex;
  /** Aborted when the client has gone. */
  signal: AbortSignal;
}

/** Connects one forwarded connection. Resolves when it is over; a rejection's message goes to the client's error stream. */
export type PortForwardHandler = (connection: PortForwardConnection) => Promise<void>;

/** Where `proxyUpgrade` goes. */
export interface UpgradeTarget {
  /** `https://10.0.0.1:10250/exec/default/web/nginx?command=sh`: scheme, address, path and query of the new request. */
  url: URL;
  /** Set on top of the client's own; undefined removes one (Authorization, Cookie …). */
  headers?: Record<string, string | string[] | undefined>;
  /** For https. */
  tls?: { ca?: string; cert?: string; key?: string; rejectUnauthorized?: boolean; servername?: string };
  /** Instead of a connection to the URL's host and port (an alias, a tunnel). TLS is laid over it for https. */
  connect?: () => Promise<Duplex>;
}
