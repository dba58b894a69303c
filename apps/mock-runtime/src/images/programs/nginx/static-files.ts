import { posix } from 'node:path';
import { FileError } from '../../../files/file-error';
import type { Answer, Exchange } from './exchange';
import { redirect } from './rewrite';
import { expand, fileOf } from './variables';

const contentTypes: Readonly<Record<string, string>> = {
  html: 'text/html',
  htm: 'text/html',
  css: 'text/css',
  xml: 'text/xml',
  txt: 'text/plain',
  js: 'application/javascript',
  json: 'application/json',
  gif: 'image/gif',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  png: 'image/png',
  svg: 'image/svg+xml',
  webp: 'image/webp',
  ico: 'image/x-icon',
  woff: 'font/woff',
  woff2: 'font/woff2',
  pdf: 'application/pdf',
  zip: 'application/zip',
  wasm: 'application/wasm',
  mp4: 'video/mp4',
};

/** The file that the request's URI means, an index, or a list of the directory. */
export async function serveFile(exchange: Exchange): Promise<Answer> {
  const { site, request, uri, context } = exchange;
  if (request.method !== 'GET' && request.method !== 'HEAD') return { status: 405 };
  const { fs } = site.process;
  const file = fileOf(exchange);
  if (!fs.isDirectory(file))
    return uri.endsWith('/') ? missing(exchange, posix.join(file, 'index.html')) : read(exchange, file);
  if (!uri.endsWith('/')) return redirect(301, `${uri}/`, exchange);
  const names = (context.args('index') ?? ['index.html']).map((name) => expand(name, exchange));
  const index = names.find((name) => fs.exists(posix.join(file, name)));
  if (index !== undefined) return read(exchange, posix.join(file, index));
  if (context.value('autoindex') === 'on') return listing(exchange, file);
  await site.logs.error(exchange, `directory index of "${file}" is forbidden`);
  return { status: 403 };
}

async function missing(exchange: Exchange, file: string): Promise<Answer> {
  await exchange.site.logs.error(exchange, `open() "${file}" failed (2: No such file or directory)`);
  return { status: 404 };
}

async function read(exchange: Exchange, file: string): Promise<Answer> {
  const { site, request, context } = exchange;
  const { fs } = site.process;
  if (!fs.exists(file)) return missing(exchange, file);
  let body: Buffer;
  try {
    body = fs.readFile(file);
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    await site.logs.error(exchange, `open() "${file}" failed (13: ${error.message})`);
    return { status: 403 };
  }
  const { mtime } = fs.stat(file);
  const etag = `"${Math.floor(mtime / 1000).toString(16)}-${body.length.toString(16)}"`;
  const modified = new Date(mtime).toUTCString();
  const headers = { 'Last-Modified': modified, ETag: etag };
  const since = request.headers['if-modified-since'];
  const wanted = request.headers['if-none-match'];
  if (wanted === undefined ? since === modified : wanted === etag) return { status: 304, headers };
  const type = contentTypes[posix.extname(file).slice(1)] ?? context.value('default_type') ?? 'text/plain';
  return part(request.headers.range, { 'Content-Type': type, ...headers, 'Accept-Ranges': 'bytes' }, body);
}

/** One range of bytes, where the client asks for one. */
function part(range: string | undefined, headers: Record<string, string>, body: Buffer): Answer {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(range ?? '') ?? [];
  if (from === '' && to === '') return { status: 200, headers, body };
  const start = from === '' ? Math.max(0, body.length - Number(to)) : Number(from);
  const end = from === '' || to === '' ? body.length - 1 : Math.min(Number(to), body.length - 1);
  if (start > end) return { status: 416, headers: { 'Content-Range': `bytes */${body.length}` } };
  return {
    status: 206,
    headers: { ...headers, 'Content-Range': `bytes ${start}-${end}/${body.length}` },
    body: body.subarray(start, end + 1),
  };
}

function listing({ site, uri }: Exchange, folder: string): Answer {
  const { fs } = site.process;
  const lines = fs
    .readdir(folder)
    .filter((name) => !name.startsWith('.'))
    .map((name) => {
      const isDirectory = fs.isDirectory(posix.join(folder, name));
      const shown = isDirectory ? `${name}/` : name;
      return `<a href="${encodeURI(shown)}">${shown}</a>`;
    });
  const title = `Index of ${uri}`;
  const body = `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<h1>${title}</h1><hr><pre><a href="../">../</a>\r\n${lines.join('\r\n')}\r\n</pre><hr></body>\r\n</html>\r\n`;
  return { status: 200, headers: { 'Content-Type': 'text/html' }, body: Buffer.from(body) };
}

/** `try_files`: the URI of the first that is there, else the last, which is a status, a named location or a URI. */
export function tryFiles(tries: readonly string[], exchange: Exchange): string | undefined {
  const { fs } = exchange.site.process;
  for (const pattern of tries.slice(0, -1)) {
    const uri = expand(pattern, exchange);
    const file = fileOf({ ...exchange, uri });
    const found = fs.exists(file) && fs.isDirectory(file) === uri.endsWith('/');
    if (!found) continue;
    exchange.uri = uri;
    return undefined;
  }
  return expand(tries.at(-1) ?? '', exchange);
}
