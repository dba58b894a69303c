import * as http from 'node:http';
import * as https from 'node:https';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { KubeObject } from '@tinkernetes/api';
import type { UpgradeTarget } from '@tinkernetes/streaming';
import type { Admit, ApiRequest } from '../contracts';
import { withoutCredentials } from './forwarded-headers';
import { unreachable } from './kubelet-connection';
import { passUpgrade } from './pass-upgrade';

/** Headers that concern one connection only (RFC 9110, 7.6.1). */
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

export interface ProxyTarget {
  readonly base: URL;
  readonly tls?: UpgradeTarget['tls'];
  /** Instead of a connection to the base's host and port. */
  connect?(): Promise<Duplex>;
}

/** `[scheme:]name[:port]` of a proxied resource. Source: k8s.io/apimachinery/pkg/util/net.SplitSchemeNamePort. */
export function splitSchemeNamePort(id: string): { scheme: string; name: string; port: string } | undefined {
  const parts = id.split(':');
  const [a = '', b = '', c = ''] = parts;
  const split =
    parts.length === 3
      ? { scheme: a, name: b, port: c }
      : { scheme: '', name: a, port: parts.length === 2 ? b : '' };
  const known = ['', 'http', 'https'].includes(split.scheme);
  return parts.length <= 3 && known && split.name !== '' ? split : undefined;
}

/** Lets admission see the connection as upstream shows it. */
export async function admitProxy(admit: Admit, request: ApiRequest, kind: string): Promise<void> {
  const object: KubeObject = {
    apiVersion: 'v1',
    kind,
    path: proxiedPath(request),
    metadata: {},
  } as unknown as KubeObject;
  await admit(request, {
    operation: 'CONNECT',
    kind: { group: '', version: 'v1', kind },
    object,
    oldObject: undefined,
  });
}

/** What follows `/proxy` in the request's path, as it was written. */
function proxiedPath({ info }: ApiRequest): string {
  return info.path.slice(proxyPrefix(info.path).length);
}

/** The path up to and with the `proxy` segment: what the other side's absolute paths are put behind. */
function proxyPrefix(path: string): string {
  const segments = path.split('/');
  // /api/v1/nodes/NAME/proxy or /api/v1/namespaces/NS/RESOURCE/NAME/proxy.
  return segments.slice(0, segments[3] === 'namespaces' ? 8 : 6).join('/');
}

/** Sends the request on and its answer back. */
export async function proxyHttp(request: ApiRequest, target: ProxyTarget): Promise<void> {
  const path = proxiedPath(request);
  const query = queryOf(request);
  if (path === '' && (request.raw.method === 'GET' || request.raw.method === 'HEAD') && !request.upgrade) {
    request.response.writeHead(301, { location: `${request.info.path}/${query}` }).end();
    return;
  }
  const url = new URL(target.base);
  url.pathname = path === '' ? '/' : path;
  url.search = query;
  const { tls, connect } = target;
  if (request.upgrade) {
    await passUpgrade(request, { url, ...(tls && { tls }), ...(connect && { connect: () => connect() }) });
    return;
  }
  const secure = url.protocol === 'https:';
  const base = await connect?.();
  const connection: https.RequestOptions = {
    ...tls,
    ...(base
      ? { createConnection: () => (secure ? connectTls({ ...tls, socket: base }) : base) }
      : { agent: false }),
  };
  const answer = await forward(request, { url, connection });
  await relay(request, answer, (location) => throughProxy(location, request.info.path));
}

/** The query of a request as it was written, with its question mark. */
export function queryOf({ raw: { url = '' } }: ApiRequest): string {
  const mark = url.indexOf('?');
  return mark < 0 ? '' : url.slice(mark);
}

export interface ForwardOptions {
  readonly url: URL;
  /** How to reach it: TLS, agent. */
  readonly connection: https.RequestOptions;
  /** On top of the client's own. */
  readonly headers?: http.OutgoingHttpHeaders;
}

/** Sends the request to another server, without what concerns only the connection to this one. */
export function forward(
  { raw, signal, info }: ApiRequest,
  { url, connection, headers: more }: ForwardOptions,
): Promise<http.IncomingMessage> {
  const headers: http.OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(raw.headers)) if (!hopByHop.has(name)) headers[name] = value;
  for (const [name, value] of Object.entries(withoutCredentials(raw))) {
    if (value === undefined) delete headers[name];
    else headers[name] = value;
  }
  headers.host = url.host;
  headers['x-forwarded-uri'] = info.path;
  headers['x-forwarded-for'] = [raw.headers['x-forwarded-for'], raw.socket.remoteAddress]
    .filter(Boolean)
    .join(', ');
  const outgoing = (url.protocol === 'https:' ? https : http).request(url, {
    method: raw.method,
    headers: { ...headers, ...more },
    signal,
    ...connection,
  });
  return new Promise((resolve, reject) => {
    outgoing.once('response', resolve);
    outgoing.once('error', (error) => reject(unreachable(error)));
    raw.pipe(outgoing);
  });
}

/** Answers with another server's answer, as it comes in. */
export async function relay(
  { response }: ApiRequest,
  answer: http.IncomingMessage,
  relocate: (location: string) => string = (location) => location,
): Promise<void> {
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value === undefined || hopByHop.has(name)) continue;
    response.setHeader(name, name === 'location' ? relocate(String(value)) : value);
  }
  response.writeHead(answer.statusCode ?? 502);
  // What watches is told at once that the stream is open.
  response.flushHeaders();
  await new Promise<void>((resolve) => {
    answer.once('error', () => response.destroy());
    response.once('close', resolve);
    answer.pipe(response);
  });
}

/** A redirect to a path of the other side leads back through this server. */
const throughProxy = (location: string, path: string): string =>
  location.startsWith('/') ? proxyPrefix(path) + location : location;
