import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { HttpExchange } from './routes';
import { HttpError } from './http-error';

const notFound = () => new HttpError(404, '404 page not found\n');

/**
 * GET /logs/<path>: the node's log files and listings of their directories, as Go's file server shows them. Upstream
 * serves /var/log; here it is `<root>/log`. Source: pkg/kubelet ServeLogs; net/http FileServer.
 */
export async function serveNodeLogs(directory: string, exchange: HttpExchange): Promise<void> {
  const { request, response, url } = exchange;
  const segments = url.pathname.split('/').filter(Boolean).slice(1).map(decode);
  if (segments.some((segment) => segment === '..' || /[/\0]/.test(segment))) throw notFound();
  const path = join(directory, ...segments);
  const found = await stat(path).catch(() => undefined);
  // A node on which nothing has run yet has no logs.
  if (!found && segments.length > 0) throw notFound();
  const isDirectory = found?.isDirectory() ?? true;
  if (isDirectory !== url.pathname.endsWith('/')) {
    const name = encodeURIComponent(segments.at(-1) ?? 'logs');
    response.writeHead(301, { location: isDirectory ? `${name}/` : `../${name}` }).end();
    return;
  }
  if (isDirectory) {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(found ? await listing(path) : page([]));
    return;
  }
  const size = found?.size ?? 0;
  const isLog = ['.log', '.txt', ''].includes(extname(path));
  response.writeHead(200, {
    'content-type': isLog ? 'text/plain; charset=utf-8' : 'application/octet-stream',
    'content-length': size,
  });
  if (request.method === 'HEAD' || size === 0) response.end();
  // No more than was promised: who writes the log goes on.
  else await pipeline(createReadStream(path, { end: size - 1 }), response);
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new HttpError(400, 'invalid URL escape\n');
  }
}

async function listing(path: string): Promise<string> {
  const entries = await readdir(path, { withFileTypes: true });
  return page(entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort());
}

const page = (names: readonly string[]): string =>
  [
    '<!doctype html>',
    '<meta name="viewport" content="width=device-width">',
    '<pre>',
    ...names.map((name) => `<a href="${encodeURI(name)}">${escape(name)}</a>`),
    '</pre>',
    '',
  ].join('\n');

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&#34;');
