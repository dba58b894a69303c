import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { NetError, type Address } from '@tinkernetes/vnet';
import { ResolveError, resolveHost } from '../../../net/resolver';
import { addHeaders } from './add-headers';
import type { Answer, Exchange } from './exchange';
import { authorityOf } from './upstreams';
import { expand } from './variables';

/** Headers of one connection, which no proxy passes on. */
const ofConnection = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'te',
]);

interface Target {
  scheme: string;
  /** As the configuration names it. */
  authority: string;
  path: string;
}

/** Passes the request on and the response back; an answer of its own where nobody is there to answer. */
export async function proxy(pass: string, exchange: Exchange): Promise<Answer | undefined> {
  const { site } = exchange;
  const url = expand(pass, exchange);
  const { scheme, host, port, path } = authorityOf(url);
  const target: Target = {
    scheme,
    authority: url.slice(scheme.length + 3).split('/')[0] ?? '',
    path: pathFor(pass, path, exchange),
  };
  const addresses = site.upstreams.targets(host, port) ?? (await lookUp(host, port, exchange));
  for (const address of addresses) {
    exchange.upstream = `${address.host}:${address.port}`;
    const stream = await connect(address, exchange, target);
    if (stream) return forward(stream, exchange, target);
  }
  return { status: addresses.length > 0 ? 502 : 500 };
}

/** Only hosts in variables are looked up when they are needed. */
async function lookUp(host: string, port: number, exchange: Exchange): Promise<Address[]> {
  const { site, context } = exchange;
  if (!context.value('resolver')) {
    await site.logs.error(exchange, `no resolver defined to resolve ${host}`);
    return [];
  }
  try {
    return [{ host: await resolveHost(site.process, host), port }];
  } catch (error) {
    if (!(error instanceof ResolveError)) throw error;
    await site.logs.error(exchange, `${host} could not be resolved (3: Host not found)`);
    return [];
  }
}

/** A path in `proxy_pass` stands in for the location's prefix; without one the request's own is passed unchanged. */
function pathFor(
  pass: string,
  path: string | undefined,
  { uri, args, prefix, request, redirects }: Exchange,
): string {
  if (pass.includes('$') && path !== undefined) return path;
  const query = args === '' ? '' : `?${args}`;
  const isAsItCame = uri === decodedPath(request.url) && redirects === 0;
  if (path === undefined) return isAsItCame ? (request.url ?? '/') : `${encodeURI(uri)}${query}`;
  return `${path}${encodeURI(uri.slice(prefix?.length ?? 0))}${query}`;
}

export const decodedPath = (url = '/'): string => decodeURIComponent(url.split('?')[0] ?? '/');

async function connect(
  address: Address,
  exchange: Exchange,
  { scheme, path }: Target,
): Promise<Duplex | undefined> {
  const { site, context } = exchange;
  const timeoutMs = durationMs(context.value('proxy_connect_timeout') ?? '60s');
  try {
    const { process } = site;
    const { stream } = await process.net.connect({ ...address, signal: process.signal, timeoutMs });
    return scheme === 'https' ? await overTls(stream) : stream;
  } catch (error) {
    if (!(error instanceof NetError)) throw error;
    const what =
      error.code === 'ETIMEDOUT'
        ? 'upstream timed out (110: Operation timed out)'
        : `connect() failed (${error.code === 'ECONNREFUSED' ? '111: Connection refused' : '113: No route to host'})`;
    const url = `${scheme}://${address.host}:${address.port}${path}`;
    await site.logs.error(exchange, `${what} while connecting to upstream, upstream: "${url}"`);
    return undefined;
  }
}

/** Certificates are not verified unless `proxy_ssl_verify` says so, as in nginx. */
async function overTls(stream: Duplex): Promise<Duplex> {
  const { connect: connectTls } = await import('node:tls');
  return new Promise((resolve, reject) => {
    const socket = connectTls({ socket: stream, rejectUnauthorized: false });
    socket.once('secureConnect', () => resolve(socket));
    socket.once('error', reject);
  });
}

async function forward(stream: Duplex, exchange: Exchange, target: Target): Promise<Answer | undefined> {
  const { site, request, response, context } = exchange;
  const sent = httpRequest({
    createConnection: () => stream as never,
    method: request.method,
    path: target.path,
    headers: headersFor(exchange, target),
    setHost: false,
  });
  sent.setTimeout(durationMs(context.value('proxy_read_timeout') ?? '60s'), () =>
    sent.destroy(new UpstreamTimeout()),
  );
  response.once('close', () => sent.destroy());
  const switched = new Promise<'switched'>((resolve) => {
    sent.once('upgrade', (head: IncomingMessage, upstream: Duplex, first: Buffer) => {
      joinUpgraded(exchange, { head, upstream, first });
      resolve('switched');
    });
  });
  let answered: IncomingMessage | 'switched';
  try {
    const head = new Promise<IncomingMessage>((resolve, reject) => {
      sent.once('response', resolve);
      sent.on('error', reject);
    });
    head.catch(() => undefined);
    await pipeline(request, sent).catch((error: Error) => sent.destroy(error));
    answered = await Promise.race([head, switched]);
  } catch (error) {
    const isLate = error instanceof UpstreamTimeout;
    const what = isLate
      ? 'upstream timed out (110: Operation timed out)'
      : 'upstream prematurely closed connection';
    await site.logs.error(exchange, `${what} while reading response header from upstream`);
    return { status: isLate ? 504 : 502 };
  }
  if (answered !== 'switched') await passBack(answered, exchange, target);
  return undefined;
}

/** The upstream speaks another protocol from now on (a WebSocket): bytes pass both ways until one end closes. */
function joinUpgraded(
  { response }: Exchange,
  { head, upstream, first }: { head: IncomingMessage; upstream: Duplex; first: Buffer },
): void {
  const client = response.socket;
  if (!client) return void upstream.destroy();
  response.detachSocket(client);
  const lines = [...pairsOf(head.rawHeaders)].map(([name, value]) => `${name}: ${value}\r\n`).join('');
  client.write(`HTTP/1.1 101 Switching Protocols\r\n${lines}\r\n`);
  if (first.length > 0) client.write(first);
  for (const [from, to] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    from.on('error', () => to.destroy()).on('close', () => to.destroy());
    from.pipe(to);
  }
}

class UpstreamTimeout extends Error {
  override readonly name = 'UpstreamTimeout';
}

function headersFor(exchange: Exchange, { authority }: Target): Record<string, string | string[]> {
  const { request, context } = exchange;
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined && !ofConnection.has(name)) headers[name] = value;
  Object.assign(headers, { host: authority, connection: 'close' });
  if (request.headers['transfer-encoding'] !== undefined) headers['transfer-encoding'] = 'chunked';
  for (const { args } of context.all('proxy_set_header')) {
    const name = (args[0] ?? '').toLowerCase();
    const value = expand(args[1] ?? '', exchange).replaceAll('$proxy_host', authority);
    if (value === '') delete headers[name];
    else headers[name] = value;
  }
  return headers;
}

async function passBack(answered: IncomingMessage, exchange: Exchange, target: Target): Promise<void> {
  const { response, site, prefix } = exchange;
  response.setHeader('Server', `nginx/${site.version}`);
  for (const [name, value] of pairsOf(answered.rawHeaders))
    if (!ofConnection.has(name.toLowerCase()) && !/^server$/i.test(name)) response.appendHeader(name, value);
  const location = response.getHeader('location');
  // proxy_redirect's default: what the server calls itself becomes what the client called.
  const own = `${target.scheme}://${target.authority}`;
  if (typeof location === 'string' && location.startsWith(own) && prefix !== undefined)
    response.setHeader('Location', location.slice(own.length));
  response.statusCode = answered.statusCode ?? 502;
  addHeaders(exchange);
  await pipeline(answered, response);
}

function* pairsOf(raw: readonly string[]): Generator<[string, string]> {
  for (let i = 0; i + 1 < raw.length; i += 2) yield [raw[i] ?? '', raw[i + 1] ?? ''];
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `60`, `60s`, `500ms`, `2m`. */
function durationMs(text: string): number {
  const [, amount = '60', unit = 's'] = /^(\d+)(ms|s|m|h|d)?$/.exec(text) ?? [];
  return Number(amount) * (units[unit] ?? 1000);
}
