import { readFile } from 'node:fs/promises';
import type { UserInfo } from '../contracts';
import type { ApiServerOptions } from '../options';

export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

/** The certificate by which aggregated servers know that this server vouches for the user in the headers. */
export async function loadProxyClient({
  proxyClient,
}: ApiServerOptions): Promise<ClientCertificate | undefined> {
  if (!proxyClient) return undefined;
  const [cert, key] = await Promise.all([
    readFile(proxyClient.certFile, 'utf8'),
    readFile(proxyClient.keyFile, 'utf8'),
  ]);
  return { cert, key };
}

/** This server, asking for itself. */
export const aggregatorUser: UserInfo = { name: 'system:kube-aggregator', groups: ['system:masters'] };

/**
 * Who asks, for a server that trusts the client certificate. Source: k8s.io/client-go/transport.SetAuthProxyHeaders.
 */
export function userHeaders(user: UserInfo): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = { 'X-Remote-User': user.name };
  if (user.uid) headers['X-Remote-Uid'] = user.uid;
  if (user.groups.length) headers['X-Remote-Group'] = [...user.groups];
  for (const [key, values] of Object.entries(user.extra ?? {})) {
    headers[`X-Remote-Extra-${escapeKey(key)}`] = [...values];
  }
  return headers;
}

/** Header names hold few characters: others (and what looks escaped already) are percent-encoded. */
const escapeKey = (key: string): string =>
  Array.from(Buffer.from(key), (byte) =>
    /[a-zA-Z0-9!#$&'*+.^_`|~-]/.test(String.fromCharCode(byte))
      ? String.fromCharCode(byte)
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
  ).join('');
