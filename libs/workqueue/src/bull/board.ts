import type { AddressInfo } from 'node:net';
import type { Queue } from 'bullmq';

export interface BoardOptions {
  bindAddress: string;
  /** 0: any free one. */
  port: number;
}

export interface Board {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Bull Board: a web page with the queues, to look at only, since a key that is removed by hand is not looked at until its
 * object changes. Loaded here, as hardly anybody asks for it.
 */
export async function serveBoard(
  queues: readonly Queue[],
  { bindAddress, port }: BoardOptions,
): Promise<Board> {
  const [{ createBullBoard }, { BullMQAdapter }, { ExpressAdapter }, { default: express }] =
    await Promise.all([
      import('@bull-board/api'),
      import('@bull-board/api/bullMQAdapter'),
      import('@bull-board/express'),
      import('express'),
    ]);
  const serverAdapter = new ExpressAdapter();
  createBullBoard({
    queues: queues.map((queue) => new BullMQAdapter(queue, { readOnlyMode: true })),
    serverAdapter,
  });
  const app = express();
  app.use(serverAdapter.getRouter());
  const server = app.listen(port, bindAddress);
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve);
    server.once('error', reject);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
