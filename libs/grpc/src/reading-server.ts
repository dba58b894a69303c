import { Server, ServerCredentials, type ConnectionInjector } from '@grpc/grpc-js';
import { createServer, type Server as SocketServer } from 'node:net';
import { ReadingSocket } from './reading-socket';

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
