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
  return serveFiles(process, {
    port,
    root: process.cwd,
    server: 'SimpleHTTP/0.6 Python/3.13.9',
    log: true,
    listing: (path, items) => {
      const title = `Directory listing for ${path}`;
      return (
        `<!DOCTYPE HTML>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>${title}</title>\n</head>\n` +
        `<body>\n<h1>${title}</h1>\n<hr>\n<ul>\n${items}</ul>\n<hr>\n</body>\n</html>\n`
      );
    },
  });
}

interface FileServer {
  port: number;
  root: string;
  server: string | undefined;
  log: boolean;
  /** The page of a directory; `items`: an `<li>` for each name. */
  listing?(path: string, items: string): string;
}

const itemsOnly = (_path: string, items: string): string => items;

async function serveFiles(
  process: Process,
  { port, root, server, log, listing = itemsOnly }: FileServer,
): Promise<number> {
  const { fs } = process;
  try {
    serveHttp(process, port, (request, response, client) => {
      const asked = posix.normalize(`/${decodeURIComponent((request.url ?? '/').split('?')[0] ?? '')}`);
      const path = posix.join(root, asked);
      const file = fs.isDirectory(path) ? posix.join(path, 'index.html') : path;
      const found = fs.exists(file);
      const names = !found && fs.isDirectory(path) ? fs.readdir(path) : undefined;
      const item = (name: string) => {
        const shown = fs.isDirectory(posix.join(path, name)) ? `${name}/` : name;
        return `<li><a href="${encodeURI(shown)}">${shown}</a></li>\n`;
      };
      const body = found
        ? fs.readFile(file)
        : Buffer.from(names ? listing(asked, names.map(item).join('')) : '<h1>404 Not Found</h1>\n');
      const status = found || names ? 200 : 404;
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
