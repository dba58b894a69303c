import type { Secret } from '@tinkernetes/api';
import { detachedSignature, expirationOf, signingTokenOf } from './bootstrap-tokens';

const signaturePrefix = 'jws-kubeconfig-';

/**
 * The content of cluster-info with one signature a token that may sign, and none of others; undefined: it is so
 * already. Source: bootstrap signer signConfigMap.
 */
export function signedData(
  data: Record<string, string>,
  tokens: readonly Secret[],
  now: number,
): Record<string, string> | undefined {
  const kubeconfig = data['kubeconfig'] ?? '';
  const signatures = tokens.flatMap((secret) => {
    const token = signingTokenOf(secret, now);
    return token ? [[signaturePrefix + token.id, detachedSignature(kubeconfig, token)] as const] : [];
  });
  const others = Object.entries(data).filter(([key]) => !key.startsWith(signaturePrefix));
  const next = Object.fromEntries([...others, ...signatures]);
  return isSame(data, next) ? undefined : next;
}

function isSame(a: Record<string, string>, b: Record<string, string>): boolean {
  const keys = Object.keys(b);
  return Object.keys(a).length === keys.length && keys.every((key) => a[key] === b[key]);
}

/** When the next token ends; undefined: none will. */
export function nextExpiration(tokens: readonly Secret[], now: number): number | undefined {
  const times = tokens.flatMap((secret) => expirationOf(secret) ?? []).filter((time) => time > now);
  return times.length > 0 ? Math.min(...times) : undefined;
}
