import type { IncomingMessage } from 'node:http';
import type { RequestHeaderOptions } from '../options';

/**
 * Takes the headers away in which proxies name users. Whom this server believes has been found by then, and servers
 * behind it, which believe the same headers, must not take a client's own word for it. Source:
 * k8s.io/apiserver/pkg/authentication/request/headerrequest.ClearAuthenticationHeaders.
 */
export function clearProxyHeaders(request: IncomingMessage, options: RequestHeaderOptions): void {
  const isProxyHeader = proxyHeaders(options);
  const given = Object.keys(request.headers).filter(isProxyHeader);
  if (given.length === 0) return;
  for (const header of given) {
    delete request.headers[header];
    delete request.headersDistinct[header];
  }
  // Names and values take turns; upgrades are passed on from here.
  const isGiven = (name: string | undefined) => given.includes(name?.toLowerCase() ?? '');
  request.rawHeaders = request.rawHeaders.filter((_, i) => !isGiven(request.rawHeaders[i - (i % 2)]));
}

const tests = new WeakMap<RequestHeaderOptions, (header: string) => boolean>();

/** Made once of the options, as every request is looked through. */
function proxyHeaders(options: RequestHeaderOptions): (header: string) => boolean {
  const known = tests.get(options);
  if (known) return known;
  const { usernameHeaders, uidHeaders, groupHeaders, extraHeaderPrefixes } = options;
  const names = new Set(
    [...usernameHeaders, ...uidHeaders, ...groupHeaders].map((name) => name.toLowerCase()),
  );
  const prefixes = extraHeaderPrefixes.map((prefix) => prefix.toLowerCase());
  const isProxyHeader = (header: string) =>
    names.has(header) || prefixes.some((prefix) => header.startsWith(prefix));
  tests.set(options, isProxyHeader);
  return isProxyHeader;
}
