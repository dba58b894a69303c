import { createHmac } from 'node:crypto';
import type { Secret } from '@tinkernetes/api';

export const tokenNamespace = 'kube-system';
export const tokenType = 'bootstrap.kubernetes.io/token';
const namePrefix = 'bootstrap-token-';

export interface SigningToken {
  id: string;
  secret: string;
}

export const dataOf = (secret: Secret, key: string): string =>
  Buffer.from(secret.data?.[key] ?? '', 'base64').toString('utf8');

/**
 * When the token ends (ms since the epoch); undefined: never. An expiration that is no time has passed already.
 * Source: k8s.io/cluster-bootstrap/util/secrets.
 */
export function expirationOf(secret: Secret): number | undefined {
  const text = dataOf(secret, 'expiration');
  if (text === '') return undefined;
  const time = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? 0 : time;
}

/** The token in a Secret, if it is complete, has not expired and may sign. */
export function signingTokenOf(secret: Secret, now: number): SigningToken | undefined {
  const id = dataOf(secret, 'token-id');
  const value = dataOf(secret, 'token-secret');
  if (secret.type !== tokenType || secret.metadata.name !== namePrefix + id || id === '' || value === '')
    return undefined;
  if ((expirationOf(secret) ?? Infinity) <= now) return undefined;
  return dataOf(secret, 'usage-bootstrap-signing') === 'true' ? { id, secret: value } : undefined;
}

/**
 * A JSON web signature without its payload, by which a node that knows the token trusts the content before it trusts
 * the server. Source: k8s.io/cluster-bootstrap/token/jws; RFC 7515 appendix F.
 */
export function detachedSignature(content: string, { id, secret }: SigningToken): string {
  const encode = (text: string) => Buffer.from(text).toString('base64url');
  const header = encode(JSON.stringify({ alg: 'HS256', kid: id }));
  const signature = createHmac('sha256', secret)
    .update(`${header}.${encode(content)}`)
    .digest('base64url');
  return `${header}..${signature}`;
}
