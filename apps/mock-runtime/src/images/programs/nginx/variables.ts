import { posix } from 'node:path';
import { regexOf, type Context } from './configuration';
import { logTime } from '../log-time';
import type { Exchange } from './exchange';

/** A text of the configuration with its variables: `$host`, `${uri}`, `$1`. Unknown ones are empty. */
export function expand(text: string, exchange: Exchange): string {
  return text.replace(/\$(?:\{(\w+)\}|(\w+))/g, (_, braced?: string, bare?: string) =>
    variable(braced ?? bare ?? '', exchange),
  );
}

type Reader = (exchange: Exchange) => string;

const readers: Readonly<Record<string, Reader>> = {
  args: ({ args }) => args,
  query_string: ({ args }) => args,
  is_args: ({ args }) => (args === '' ? '' : '?'),
  uri: ({ uri }) => uri,
  document_uri: ({ uri }) => uri,
  request_uri: ({ request }) => request.url ?? '/',
  request_method: ({ request }) => request.method ?? 'GET',
  request: ({ request }) => `${request.method} ${request.url} HTTP/${request.httpVersion}`,
  request_filename: (exchange) => fileOf(exchange),
  document_root: ({ context }) => context.value('root') ?? '/etc/nginx/html',
  host: ({ host }) => host,
  hostname: ({ site }) => site.process.machine.hostname,
  scheme: ({ server, port }) => (isTls(server.listens, port) ? 'https' : 'http'),
  https: ({ server, port }) => (isTls(server.listens, port) ? 'on' : ''),
  server_protocol: ({ request }) => `HTTP/${request.httpVersion}`,
  server_name: ({ server }) => server.names[0] ?? '',
  server_port: ({ port }) => String(port),
  server_addr: ({ site }) => site.process.net.addresses()[0] ?? '',
  remote_addr: ({ client }) => client.host,
  remote_port: ({ client }) => String(client.port),
  remote_user: () => '',
  binary_remote_addr: ({ client }) => client.host,
  proxy_add_x_forwarded_for: ({ request, client }) =>
    [request.headers['x-forwarded-for'], client.host].filter(Boolean).join(', '),
  content_type: ({ request }) => request.headers['content-type'] ?? '',
  content_length: ({ request }) => request.headers['content-length'] ?? '',
  status: ({ response }) => String(response.statusCode),
  body_bytes_sent: (exchange) => String(bytesSent(exchange)),
  bytes_sent: (exchange) => String(bytesSent(exchange)),
  time_local: ({ site }) => logTime(site.process.clock.now()),
  time_iso8601: ({ site }) => new Date(site.process.clock.now()).toISOString().replace(/\.\d+Z$/, '+00:00'),
  msec: ({ site }) => (site.process.clock.now() / 1000).toFixed(3),
  request_time: (exchange) => seconds(exchange),
  upstream_response_time: (exchange) => (exchange.upstream === undefined ? '-' : seconds(exchange)),
  upstream_addr: ({ upstream }) => upstream ?? '-',
  upstream_status: ({ upstream, response }) => (upstream === undefined ? '-' : String(response.statusCode)),
  nginx_version: ({ site }) => site.version,
  pid: ({ site }) => String(site.process.pid),
};

function variable(name: string, exchange: Exchange): string {
  if (/^\d+$/.test(name)) return exchange.captures[Number(name)] ?? '';
  const own = exchange.variables.get(name);
  if (own !== undefined) return own;
  const reader = readers[name];
  if (reader) return reader(exchange);
  const mapped = fromMaps(name, exchange);
  if (mapped !== undefined) return mapped;
  if (name.startsWith('http_')) return header(exchange, name.slice(5));
  if (name.startsWith('sent_http_'))
    return String(exchange.response.getHeader(name.slice(10).replaceAll('_', '-')) ?? '');
  if (name.startsWith('arg_')) return new URLSearchParams(exchange.args).get(name.slice(4)) ?? '';
  if (name.startsWith('cookie_')) return cookie(exchange, name.slice(7));
  return '';
}

function header({ request }: Exchange, name: string): string {
  const value = request.headers[name.replaceAll('_', '-').toLowerCase()];
  return Array.isArray(value) ? value.join(', ') : (value ?? '');
}

function cookie({ request }: Exchange, name: string): string {
  const pairs = (request.headers.cookie ?? '').split(/;\s*/);
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? '';
}

/** `map $source $name { value result; ~regex result; default result; }`. */
function fromMaps(name: string, exchange: Exchange): string | undefined {
  const map = exchange.site.configuration.http.directives.find(
    (directive) => directive.name === 'map' && directive.args[1] === `$${name}`,
  );
  if (!map) return undefined;
  const source = expand(map.args[0] ?? '', exchange);
  const lines = map.block ?? [];
  const line =
    lines.find(({ name: value }) => value.toLowerCase() === source.toLowerCase() && value !== 'default') ??
    lines.find(({ name: value, place }) => value.startsWith('~') && matchesMap(value, source, place)) ??
    lines.find(({ name: value }) => value === 'default');
  return expand(line?.args[0] ?? '', exchange);
}

function matchesMap(value: string, source: string, place: string): boolean {
  const ignoresCase = value.startsWith('~*');
  return regexOf(value.slice(ignoresCase ? 2 : 1), ignoresCase, place).test(source);
}

/** The file that a URI means by `root` or `alias`. */
export function fileOf({ context, uri, prefix }: Exchange): string {
  const alias = context.value('alias');
  const path = posix.normalize(
    `/${alias !== undefined && prefix !== undefined ? uri.slice(prefix.length) : uri}`,
  );
  const base = alias ?? rootOf(context);
  return posix.join(base, path);
}

const rootOf = (context: Context): string => posix.resolve('/etc/nginx', context.value('root') ?? 'html');

const isTls = (listens: readonly { port: number; isTls: boolean }[], port: number): boolean =>
  listens.some((listen) => listen.port === port && listen.isTls);

const bytesSent = ({ response }: Exchange): number => Number(response.getHeader('content-length') ?? 0);

const seconds = ({ site, startedAt }: Exchange): string =>
  ((site.process.clock.now() - startedAt) / 1000).toFixed(3);
