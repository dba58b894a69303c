import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that systems give to outgoing connections and to those who ask for any port (Linux from 32768,
 * others from 49152), and below node ports: between this look and its use nobody else is given it by chance.
 */
const range = { first: 20_000, count: 10_000 };

/** A TCP port of the loopback interface on which nobody listens. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = range.first + Math.floor(Math.random() * range.count);
    const server = createServer();
    try {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    } catch {
      // Taken: another one.
      continue;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}
