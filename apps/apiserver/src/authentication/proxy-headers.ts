import type { IncomingMessage } from 'node:http';
import type { RequestHeaderOptions } from '../options';

/**
 * Takes the headers away in which proxies name users. Whom this server believes has been found by then, and servers
 * behind it, which believe the same headers, must not take a client's own word for it. Source:
 * k8s.io/apiserver/pkg/authentication/request/headerrequest.ClearAuthenticationHeaders.
 */
export function clearProxyHeaders(request: IncomingMessage, options: RequestHeaderOptions): void {
  const { usernameHeaders, uidHeaders, groupHeaders, extraHeaderPrefixes } = options;
  const names = [...usernameHeaders, ...uidHeaders, ...groupHeaders].map((name) => name.toLowerCase());
  const prefixes = extraHeaderPrefixes.map((prefix) => prefix.toLowerCase());
  const given = Object.keys(request.headers).filter(
    (header) => names.includes(header) || prefixes.some((prefix) => header.startsWith(prefix)),
  );
  if (given.length === 0) return;
  for (const header of given) {
    delete request.headers[header];
    delete request.headersDistinct[header];
  }
  // Names and values take turns; upgrades are passed on from here.
  const isGiven = (name: string | undefined) => given.includes(name?.toLowerCase() ?? '');
  request.rawHeaders = request.rawHeaders.filter((_, i) => !isGiven(request.rawHeaders[i - (i % 2)]));
}
