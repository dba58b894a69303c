import { NetError } from '@tinkernetes/vnet';
import type { Process } from '../../kernel/process';
import { serveHttp } from './http-listener';

/** Stands in for an image that nobody defined: answers HTTP on the container's declared ports until it is stopped. */
export async function generic(process: Process): Promise<number> {
  const ports = (process.env.TINKERNETES_PORTS ?? '')
    .split(',')
    .map(Number)
    .filter((port) => port > 0);
  await process.print(`standing in for ${process.env.TINKERNETES_IMAGE ?? 'an image'}\n`);
  for (const port of ports) {
    try {
      serveHttp(process, port, (request, response) => {
        const body = `${process.env.TINKERNETES_IMAGE ?? ''} on ${process.machine.hostname}: ${request.method} ${request.url}\n`;
        response.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': Buffer.byteLength(body) });
        response.end(body);
      });
    } catch (error) {
      if (!(error instanceof NetError)) throw error;
      await process.complain(`${error.message}\n`);
      return 1;
    }
  }
  await process.untilSignal('SIGTERM', 'SIGINT', 'SIGQUIT');
  return 0;
}
