import type { IncomingMessage, ServerResponse } from 'node:http';
import { STATUS_CODES } from 'node:http';
import type { Address } from '@tinkernetes/vnet';
import { contains, parseAddress, parseCidr } from '../../../network/ipv4';
import { addHeaders } from './add-headers';
import { locationFor, serverFor, type Context, type Location } from './configuration';
import type { Directive } from './directives';
import { textAnswer, type Answer, type Exchange, type Site } from './exchange';
import { decodedPath, proxy } from './proxy';
import { capture, rewrite } from './rewrite';
import { serveFile, tryFiles } from './static-files';
import { expand } from './variables';

export interface Incoming {
  request: IncomingMessage;
  response: ServerResponse;
  client: Address;
  port: number;
}

/** How often a request may be sent on within the server; then it is a loop. */
const mostRedirects = 10;

/** Answers one request as the server that its port and host name choose, and writes the access log. */
export async function handle(site: Site, { request, response, client, port }: Incoming): Promise<void> {
  const host = (request.headers.host ?? '').split(':')[0] ?? '';
  const server = serverFor(site.configuration.servers, port, host);
  if (!server) return void response.destroy();
  const [, query = ''] = (request.url ?? '/').split(/\?(.*)/s);
  const exchange: Exchange = {
    site,
    server,
    request,
    response,
    client,
    port,
    host: host || (server.names[0] ?? ''),
    uri: decodedPath(request.url),
    args: query,
    context: server.context,
    captures: [],
    variables: new Map(),
    startedAt: site.process.clock.now(),
    redirects: 0,
  };
  const answer = await serverPhase(exchange);
  if (answer) await send(await withErrorPage(answer, exchange), exchange);
  await site.logs.access(exchange);
}

async function serverPhase(exchange: Exchange): Promise<Answer | undefined> {
  const outcome = rewrite(exchange.server.context.directives, exchange);
  return typeof outcome === 'object' ? outcome : findLocation(exchange);
}

async function findLocation(exchange: Exchange): Promise<Answer | undefined> {
  if ((exchange.redirects += 1) > mostRedirects) {
    const { site, uri } = exchange;
    await site.logs.error(
      exchange,
      `rewrite or internal redirection cycle while internally redirecting to "${uri}"`,
    );
    return { status: 500 };
  }
  const { server } = exchange;
  const chosen = locationFor(server.locations, exchange.uri);
  exchange.context = chosen?.location.context ?? server.context;
  exchange.prefix = chosen?.location.regex ? undefined : (chosen?.location.path ?? '');
  if (chosen?.match) capture(chosen.match, exchange);
  if (chosen?.location.context.own('internal') && exchange.redirects === 1) return { status: 404 };
  return locationPhase(exchange, chosen?.location);
}

async function locationPhase(
  exchange: Exchange,
  location: Location | undefined,
): Promise<Answer | undefined> {
  const outcome = location ? rewrite(location.context.directives, exchange) : 'go on';
  if (outcome === 'again') return findLocation(exchange);
  if (typeof outcome === 'object') return outcome;
  if (!isAllowed(exchange)) {
    await exchange.site.logs.error(exchange, 'access forbidden by rule');
    return { status: 403 };
  }
  const tries = (location?.context ?? exchange.server.context).own('try_files')?.args;
  const next = tries ? tryFiles(tries, exchange) : undefined;
  return next === undefined ? content(exchange) : goTo(next, exchange);
}

/** To a status (`=404`), a named location (`@app`) or another URI. */
function goTo(next: string, exchange: Exchange): Promise<Answer | undefined> {
  if (next.startsWith('=')) return Promise.resolve({ status: Number(next.slice(1)) });
  if (next.startsWith('@')) return namedLocation(next, exchange);
  const [path = '', query] = next.split(/\?(.*)/s);
  exchange.uri = path;
  if (query !== undefined) exchange.args = query;
  return findLocation(exchange);
}

async function namedLocation(name: string, exchange: Exchange): Promise<Answer | undefined> {
  const location = exchange.server.locations.find(
    ({ modifier, path }) => modifier === '@' && `@${path}` === name,
  );
  if (!location || (exchange.redirects += 1) > mostRedirects) return { status: 500 };
  exchange.context = location.context;
  exchange.prefix = undefined;
  return locationPhase(exchange, location);
}

/** `allow` and `deny` of the nearest block that has any, the first that fits: an address, a network or `all`. */
function isAllowed({ context, client }: Exchange): boolean {
  const rule = accessRules(context).find(
    ({ args: [who = ''] }) => who === 'all' || isInNetwork(client.host, who),
  );
  return rule?.name !== 'deny';
}

function accessRules({ directives, outer }: Context): readonly Directive[] {
  const own = directives.filter(({ name }) => name === 'allow' || name === 'deny');
  return own.length > 0 || !outer ? own : accessRules(outer);
}

function isInNetwork(host: string, network: string): boolean {
  const [address, cidr] = [parseAddress(host), parseCidr(network)];
  return address !== undefined && cidr !== undefined && contains(cidr, address);
}

const notEmulated = ['fastcgi_pass', 'uwsgi_pass', 'scgi_pass', 'grpc_pass', 'memcached_pass'] as const;

async function content(exchange: Exchange): Promise<Answer | undefined> {
  const { context, site } = exchange;
  const pass =
    context.own('proxy_pass')?.args[0] ?? (isInsideIf(context) ? context.value('proxy_pass') : undefined);
  if (pass !== undefined) return proxy(pass, exchange);
  if (context.own('stub_status')) return textAnswer(200, status());
  const foreign = notEmulated.find((name) => context.own(name));
  if (foreign) {
    await site.logs.error(exchange, `"${foreign}" is not emulated`);
    return { status: 502 };
  }
  return serveFile(exchange);
}

/** What a location hands its requests to holds in its `if` blocks too. */
const isInsideIf = ({ outer, directives }: Exchange['context']): boolean =>
  outer?.directives.some(({ name, block }) => name === 'if' && block === directives) ?? false;

const status = (): string =>
  'Active connections: 1 \nserver accepts handled requests\n 1 1 1 \nReading: 0 Writing: 1 Waiting: 0 \n';

/** `error_page 500 502 =200 /50x.html`: another URI answers, with the status of the first or its own. */
async function withErrorPage(answer: Answer, exchange: Exchange): Promise<Answer> {
  const { context, errorStatus } = exchange;
  if (answer.status < 300 || answer.body || errorStatus !== undefined) return keepStatus(answer, errorStatus);
  const page = context
    .all('error_page')
    .find(({ args }) => args.slice(0, -1).includes(String(answer.status)));
  const uri = page?.args.at(-1);
  if (!page || uri === undefined) return answer;
  if (/^https?:/.test(uri)) return { status: 302, headers: { Location: expand(uri, exchange) } };
  const change = page.args.find((arg) => arg.startsWith('='));
  exchange.errorStatus = change === undefined ? answer.status : Number(change.slice(1)) || undefined;
  exchange.redirects = 1;
  const next = await goTo(expand(uri, exchange), exchange);
  if (!next) return { status: 0 };
  return next.status >= 300 ? { ...answer, headers: answer.headers } : keepStatus(next, exchange.errorStatus);
}

const keepStatus = (answer: Answer, status: number | undefined): Answer =>
  status !== undefined && answer.status < 300 ? { ...answer, status } : answer;

/** Status 0: somebody else has answered. */
async function send(answer: Answer, exchange: Exchange): Promise<void> {
  const { response, request, site, context } = exchange;
  if (answer.status === 0) return;
  // nginx's own: closes the connection without an answer.
  if (answer.status === 444) return void response.destroy();
  const hasBody = answer.status !== 304 && answer.status !== 204;
  const { headers, body } = answer.body || !hasBody ? answer : page(answer, exchange);
  response.statusCode = answer.status;
  response.statusMessage = STATUS_CODES[answer.status] ?? '';
  response.setHeader('Server', context.value('server_tokens') === 'off' ? 'nginx' : `nginx/${site.version}`);
  for (const [name, value] of Object.entries(headers ?? {})) response.setHeader(name, value);
  if (hasBody) response.setHeader('Content-Length', body?.length ?? 0);
  addHeaders(exchange);
  response.end(request.method === 'HEAD' || !hasBody ? undefined : body);
}

const titles: Readonly<Record<number, string>> = {
  302: 'Found',
  405: 'Not Allowed',
  408: 'Request Time-out',
  413: 'Request Entity Too Large',
  414: 'Request-URI Too Large',
  416: 'Requested Range Not Satisfiable',
  503: 'Service Temporarily Unavailable',
  504: 'Gateway Time-out',
};

function page({ status, headers }: Answer, { site, context }: Exchange): Answer {
  const title = `${status} ${titles[status] ?? STATUS_CODES[status] ?? ''}`.trim();
  const server = context.value('server_tokens') === 'off' ? 'nginx' : `nginx/${site.version}`;
  const lines = [
    '<html>',
    `<head><title>${title}</title></head>`,
    '<body>',
    `<center><h1>${title}</h1></center>`,
    `<hr><center>${server}</center>`,
    '</body>',
    '</html>',
    '',
  ];
  return {
    status,
    headers: { 'Content-Type': 'text/html', ...headers },
    body: Buffer.from(lines.join('\r\n')),
  };
}
