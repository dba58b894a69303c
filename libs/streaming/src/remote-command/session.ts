import type { Duplex, Readable, Writable } from 'node:stream';

/** The streams of one exec or attach, whatever carries them. */
export interface RemoteCommandSession {
  error: Writable;
  stdin?: Readable;
  stdout?: Writable;
  stderr?: Writable;
  resize?: Readable;
  /** The error channel carries a Status as JSON (v4 and later); else plain text, and nothing on success. */
  statusAsJSON: boolean;
  /** Closes the connection once what was written has gone out. */
  close(): void;
  /** Resolves when the client's connection is closed. */
  closed: Promise<void>;
}

/** Resolves with the socket's close, however it comes about. */
export function closeOf(socket: Duplex): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) resolve();
    else socket.once('close', () => resolve());
  });
}
