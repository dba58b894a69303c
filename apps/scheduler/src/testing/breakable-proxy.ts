import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A TCP proxy in front of a server, whose connections a test can break and refuse. */
export class BreakableProxy {
  private readonly sockets = new Set<Socket>();
  private refusing = false;
  private readonly server: Server;

  private constructor(private target: number) {
    this.server = createServer((inbound) => {
      if (this.refusing) {
        inbound.destroy();
        return;
      }
      const outbound = connect(this.target, '127.0.0.1');
      for (const [from, to] of [
        [inbound, outbound],
        [outbound, inbound],
      ] as const) {
        this.sockets.add(from);
        from.on('close', () => this.sockets.delete(from));
        // Broken on purpose: both ends go, and whoever used them notices.
        from.on('error', () => to.destroy());
        from.pipe(to);
      }
    });
  }

  static async start(target: number): Promise<BreakableProxy> {
    const proxy = new BreakableProxy(target);
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  break(): void {
    this.refusing = true;
    for (const socket of this.sockets) socket.destroy();
  }

  /** `target`: where the server is now, if it moved. */
  mend(target = this.target): void {
    this.target = target;
    this.refusing = false;
  }

  async stop(): Promise<void> {
    this.break();
    this.server.close();
    await once(this.server, 'close');
  }
}
