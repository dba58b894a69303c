import type { Duplex, Writable } from 'node:stream';
import type { PortForwardHandler } from '../types';

export interface ForwardedPort {
  port: number;
  data: Duplex;
  error: Writable;
  signal: AbortSignal;
  handler: PortForwardHandler;
}

/** Serves one forwarded connection and closes its two streams; a failure goes to the error stream as text. */
export async function connectPort({ port, data, error, signal, handler }: ForwardedPort): Promise<void> {
  try {
    await handler({ port, stream: data, signal });
  } catch (failure) {
    const message = failure instanceof Error ? failure.message : String(failure);
    if (!error.destroyed) error.write(message);
  } finally {
    if (!error.destroyed) error.end();
    if (!data.destroyed && !data.writableEnded) data.end();
    // What the client still sends goes nowhere.
    data.resume();
  }
}
