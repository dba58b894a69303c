import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Chunk } from './pending-frames';

/**
 * Where a watcher's frames go: straight to the answer's socket, as whole chunks, which are the same bytes for all
 * watchers. Node's own way makes three buffers of each chunk for each watcher, joins them again, and does so only at
 * the end of the turn, out of sight of who measures how long writing takes.
 */
export class WatchOutput {
  private socket: Socket | undefined;

  constructor(
    private readonly response: ServerResponse,
    private readonly onDrain: () => void,
  ) {}

  /** After the headers have been written. */
  open(): void {
    const { response } = this;
    // Else the client speaks HTTP/1.0, or has not got the answer to an earlier request yet.
    if (response.chunkedEncoding && response.socket) this.socket = response.socket;
    this.target.on('drain', this.onDrain);
  }

  get needsDrain(): boolean {
    return this.target.writableNeedDrain;
  }

  write({ framed, content }: Chunk): void {
    if (this.socket) this.socket.write(framed);
    else this.response.write(content);
  }

  /** Resolves when there is room again; rejects when the signal aborts. */
  async drained(signal: AbortSignal): Promise<void> {
    await once(this.target, 'drain', { signal });
  }

  /** The socket may go on to another request. */
  end(rest: Buffer): void {
    this.target.off('drain', this.onDrain);
    if (!this.response.destroyed) this.response.end(rest);
  }

  private get target(): Socket | ServerResponse {
    return this.socket ?? this.response;
  }
}
