import { Server, ServerCredentials, type ConnectionInjector } from '@grpc/grpc-js';
import { createServer, type Server as SocketServer, type Socket } from 'node:net';
import { Duplex } from 'node:stream';

/**
 * A server on a unix socket that never stops reading. Node's HTTP/2 reads nothing while a write waits for the socket: two
 * ends whose buffers are both full, as after some hundred calls at once, wait for each other for ever. What this server
 * has to say waits in memory instead, as much as the client's flow control lets it say.
 */
export class ReadingServer extends Server {
  private injector: ConnectionInjector | undefined;
  private readonly listeners = new Set<SocketServer>();

  /** At `unix:///path`; a stale socket file must be removed by the caller. */
  listen(endpoint: string): Promise<void> {
    const injector = (this.injector ??= this.createConnectionInjector(ServerCredentials.createInsecure()));
    const listener = createServer((socket) => injector.injectConnection(new ReadingSocket(socket)));
    return new Promise((resolve, reject) => {
      listener.once('error', reject);
      listener.listen(endpoint.replace(/^unix:(\/\/)?/, ''), () => {
        listener.off('error', reject);
        this.listeners.add(listener);
        resolve();
      });
    });
  }

  /** Ends all calls and connections. */
  override forceShutdown(): void {
    for (const listener of this.listeners) listener.close();
    this.listeners.clear();
    super.forceShutdown();
  }
}

/** A socket that takes every write at once. */
class ReadingSocket extends Duplex {
  constructor(private readonly socket: Socket) {
    super();
    socket.on('data', (chunk) => {
      if (!this.push(chunk)) socket.pause();
    });
    socket.on('end', () => this.push(null));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
  }

  override _read(): void {
    this.socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, taken: () => void): void {
    this.socket.write(chunk);
    taken();
  }

  override _final(done: () => void): void {
    this.socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.socket.destroy();
    done(error);
  }
}
