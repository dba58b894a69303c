import type { IncomingMessage } from 'node:http';
import { readFile } from 'node:fs/promises';
import type { Authenticator, UserInfo } from '../contracts';
import type { RequestHeaderOptions } from '../options';
import { certificatesIn, certifiedSocket, isIssuedBy, type CertifiedSocket } from './certificate-issuer';

/**
 * The user whom a trusted proxy names in headers. Source:
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#authenticating-proxy
 */
export async function createRequestHeaderAuthenticator(
  options: RequestHeaderOptions,
): Promise<Authenticator> {
  const authorities = certificatesIn(await readFile(options.clientCaFile, 'utf8'));
  // A certificate belongs to its connection, on which many requests come.
  const trusted = new WeakMap<CertifiedSocket, boolean>();
  const isTrusted = (socket: CertifiedSocket): boolean => {
    let known = trusted.get(socket);
    if (known === undefined) {
      known = isIssuedBy(socket, authorities) && hasAllowedName(socket, options.allowedNames);
      trusted.set(socket, known);
    }
    return known;
  };
  return {
    name: 'RequestHeader',
    authenticate: async (request) => {
      const socket = certifiedSocket(request.socket);
      const name = first(request, options.usernameHeaders);
      if (!name || !socket || !isTrusted(socket)) return undefined;
      return { user: userOf(request, name, options) };
    },
  };
}

/** The last common name counts, as in Go's pkix.Name. */
function hasAllowedName(socket: CertifiedSocket, allowed: readonly string[]): boolean {
  const subject = socket.getPeerX509Certificate()?.toLegacyObject().subject;
  const name = [subject?.CN].flat().at(-1);
  return allowed.length === 0 || (name !== undefined && allowed.includes(name));
}

function userOf(
  request: IncomingMessage,
  name: string,
  { uidHeaders, groupHeaders, extraHeaderPrefixes }: RequestHeaderOptions,
): UserInfo {
  const uid = first(request, uidHeaders);
  const extra: Record<string, string[]> = {};
  for (const header of Object.keys(request.headers)) {
    const prefix = extraHeaderPrefixes.find((p) => header.startsWith(p.toLowerCase()));
    if (prefix !== undefined) extra[unescapeKey(header.slice(prefix.length))] = values(request, header);
  }
  return {
    name,
    groups: groupHeaders.flatMap((header) => values(request, header)),
    ...(uid && { uid }),
    ...(Object.keys(extra).length && { extra }),
  };
}

/** Node makes the distinct values of all headers with the first look: hardly a request has any of these. */
function values(request: IncomingMessage, header: string): string[] {
  const name = header.toLowerCase();
  return request.headers[name] === undefined ? [] : (request.headersDistinct[name] ?? []);
}

const first = (request: IncomingMessage, headers: readonly string[]): string | undefined =>
  headers.map((header) => values(request, header)[0]).find(Boolean);

function unescapeKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch (error) {
    // What is no escape stands for itself.
    if (error instanceof URIError) return key;
    throw error;
  }
}
