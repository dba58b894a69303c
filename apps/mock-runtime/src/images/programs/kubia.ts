import type { Process } from '../../kernel/process';
import { serveHttp } from './http-listener';

/** The examples of "Kubernetes in Action": says which Pod answered. */
export const kubia = (process: Process): Promise<number> => serve(process, () => undefined);

/** The same, but it fails after five requests. */
export const kubiaUnhealthy = (process: Process): Promise<number> => {
  let requests = 0;
  return serve(process, () => {
    requests += 1;
    return requests > 5 ? "I'm not well. Please restart me!" : undefined;
  });
};

async function serve(process: Process, complaint: () => string | undefined): Promise<number> {
  await process.print('Kubia server starting...\n');
  serveHttp(process, 8080, (_request, response, client) => {
    const failed = complaint();
    response.writeHead(failed ? 500 : 200);
    response.end(failed ?? `You've hit ${process.machine.hostname}\n`);
    process.print(`Received request from ${client.host}\n`).catch(() => response.destroy());
  });
  await process.untilSignal('SIGTERM', 'SIGINT');
  return 0;
}
