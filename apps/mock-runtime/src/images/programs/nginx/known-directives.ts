import { NginxConfigError, type Directive } from './directives';

/** Directives that open a block, and the blocks that they may stand in (`` is the file itself). */
const blocks: Readonly<Record<string, readonly string[]>> = {
  events: [''],
  http: [''],
  stream: [''],
  mail: [''],
  server: ['http', 'stream', 'mail'],
  upstream: ['http', 'stream'],
  location: ['server', 'location'],
  if: ['server', 'location'],
  limit_except: ['location'],
  map: ['http', 'stream'],
  geo: ['http', 'stream'],
  split_clients: ['http', 'stream'],
  types: ['http', 'server', 'location'],
};

const httpOnly = ['http', 'server', 'location', 'if', 'limit_except'];

/** Where some stand that are often put into the wrong file; all others may stand anywhere. */
const places: Readonly<Record<string, readonly string[]>> = {
  worker_processes: [''],
  user: [''],
  pid: [''],
  worker_connections: ['events'],
  listen: ['server'],
  server_name: ['server'],
  proxy_pass: ['location', 'if', 'limit_except', 'server'],
  root: httpOnly,
  alias: ['location'],
  try_files: ['server', 'location'],
  return: ['server', 'location', 'if'],
  rewrite: ['server', 'location', 'if'],
  index: ['http', 'server', 'location'],
  access_log: [...httpOnly, 'stream', 'server'],
  log_format: ['http', 'stream'],
};

/** The modules of the official image: their directives begin with one of these words and `_`. */
const modules = new Set(
  (
    'absolute accept access add aio ancient auth autoindex browser charset chunked client connection create dav debug ' +
    'default directio empty error fastcgi flv geoip grpc gunzip gzip hash image if ignore internal ip js keepalive ' +
    'large least limit lingering lock log map master max memcached merge min mirror modern mp4 msie multi open output ' +
    'override pcre perl port postpone preread proxy proxy quic random read real recursive referer request reset resolver ' +
    'rewrite satisfy scgi secure send server set slice split ssi ssl state stub sub subrequest tcp thread timer try types ' +
    'underscores uninitialized use userid uwsgi valid variables worker working xslt zone load http2 http3 expires'
  ).split(' '),
);

/** Directives of one word, and those that open a block. */
const words = new Set([
  ...Object.keys(blocks),
  ...(
    'aio alias allow autoindex break charset daemon deny env etag expires http2 http3 include index internal keepalive ' +
    'listen mirror mp4 flv pid queue random resolver return rewrite root satisfy sendfile set slice ssi sticky stub_status ' +
    'use user userid zone hash directio'
  ).split(' '),
]);

const isKnown = (name: string): boolean => words.has(name) || modules.has(name.split('_')[0] ?? '');

/** Throws what nginx says of a name it doesn't know, or that stands where it means nothing. */
export function checkDirective(
  { name, args, place }: Directive,
  { context, opens }: { context: string; opens: boolean },
): void {
  const within = blocks[name];
  if (opens && !within) {
    if (!isKnown(name)) throw unknown(name, place);
    throw new NginxConfigError(`directive "${name}" is not terminated by ";" in ${place}`);
  }
  // In `upstream` it is a line, in `http` a block.
  if (name === 'server' && context === 'upstream') return;
  if (within && !opens) throw new NginxConfigError(`directive "${name}" has no opening "{" in ${place}`);
  if (!within && !isKnown(name)) throw unknown(name, place);
  const allowed = within ?? places[name];
  if (allowed && !allowed.includes(context))
    throw new NginxConfigError(`"${name}" directive is not allowed here in ${place}`);
  if (!opens && args.length === 0 && needsArguments.has(name))
    throw new NginxConfigError(`invalid number of arguments in "${name}" directive in ${place}`);
}

const needsArguments = new Set([
  'listen',
  'server_name',
  'root',
  'alias',
  'proxy_pass',
  'return',
  'index',
  'include',
]);

const unknown = (name: string, place: string): NginxConfigError =>
  new NginxConfigError(`unknown directive "${name}" in ${place}`);
