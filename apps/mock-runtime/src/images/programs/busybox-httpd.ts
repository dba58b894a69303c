import { posix } from 'node:path';
import { NetError } from '@tinkernetes/vnet';
import { absolute, parseArgs } from '../../commands/paths';
import type { Process } from '../../kernel/process';
import { serveHttp } from './http-listener';
import { logTime } from './log-time';

/** Apache's httpd: files below htdocs. */
export async function apache(process: Process): Promise<number> {
  const now = new Date(process.clock.now()).toUTCString();
  await process.complain(
    `[${now}] [mpm_event:notice] [pid 1:tid 1] AH00489: Apache/2.4.65 (Unix) configured -- resuming normal operations\n` +
      `[${now}] [core:notice] [pid 1:tid 1] AH00094: Command line: 'httpd -D FOREGROUND'\n`,
  );
  return serveFiles(process, {
    port: 80,
    root: '/usr/local/apache2/htdocs',
    server: 'Apache/2.4.65 (Unix)',
    log: true,
  });
}

/** `httpd [-f] [-p PORT] [-h DIR]` of busybox. */
export async function busyboxHttpd(process: Process): Promise<number> {
  const { values } = parseArgs(process.argv.slice(1), 'ph');
  const port = Number((values.get('p') ?? '80').split(':').pop());
  return serveFiles(process, {
    port,
    root: absolute(process, values.get('h') ?? '.'),
    server: undefined,
    log: false,
  });
}

/** `python -m http.server [PORT]`. */
export async function pythonHttpServer(process: Process, port: number): Promise<number> {
  await process.print(`Serving HTTP on 0.0.0.0 port ${port} (http://0.0.0.0:${port}/) ...\n`);
  return serveFiles(process, { port, root: process.cwd, server: 'SimpleHTTP/0.6 Python/3.13.9', log: true });
}

interface FileServer {
  port: number;
  root: string;
  server: string | undefined;
  log: boolean;
}

async function serveFiles(process: Process, { port, root, server, log }: FileServer): Promise<number> {
  const { fs } = process;
  try {
    serveHttp(process, port, (request, response, client) => {
      const path = posix.join(
        root,
        posix.normalize(`/${decodeURIComponent((request.url ?? '/').split('?')[0] ?? '')}`),
      );
      const file = fs.isDirectory(path) ? posix.join(path, 'index.html') : path;
      const found = fs.exists(file);
      const listing = !found && fs.isDirectory(path) ? fs.readdir(path) : undefined;
      const body = found
        ? fs.readFile(file)
        : Buffer.from(
            listing
              ? listing.map((name) => `<li><a href="${name}">${name}</a></li>\n`).join('')
              : '<h1>404 Not Found</h1>\n',
          );
      const status = found || listing ? 200 : 404;
      const type = file.endsWith('.html') || !found ? 'text/html' : 'text/plain';
      response.writeHead(status, {
        'Content-Type': type,
        'Content-Length': body.length,
        ...(server ? { Server: server } : {}),
      });
      response.end(request.method === 'HEAD' ? undefined : body);
      if (!log) return;
      const line = `${client.host} - - [${logTime(process.clock.now())}] "${request.method} ${request.url} HTTP/${request.httpVersion}" ${status} ${body.length}\n`;
      process.print(line).catch(() => response.destroy());
    });
  } catch (error) {
    if (!(error instanceof NetError)) throw error;
    await process.complain(`${error.message}\n`);
    return 1;
  }
  await process.untilSignal('SIGTERM', 'SIGINT', 'SIGWINCH');
  return 0;
}
