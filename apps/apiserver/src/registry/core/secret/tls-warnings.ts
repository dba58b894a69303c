import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Secret } from '@tinkernetes/api';

/** What Go's tls.X509KeyPair would complain about. Source: pkg/api/secret warnings. */
export function tlsWarnings(secret: Secret): string[] {
  if (secret.type !== 'kubernetes.io/tls') return [];
  const text = (key: string) => Buffer.from(secret.data?.[key] ?? '', 'base64').toString();
  const problem = pairProblem(text('tls.crt'), text('tls.key'));
  return problem === undefined ? [] : [problem];
}

function pairProblem(certificate: string, key: string): string | undefined {
  if (!certificate.includes('-----BEGIN')) return 'tls: failed to find any PEM data in certificate input';
  if (!certificate.includes('-----BEGIN CERTIFICATE')) {
    return 'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: []';
  }
  if (!key.includes('-----BEGIN')) return 'tls: failed to find any PEM data in key input';
  try {
    const parsed = new X509Certificate(certificate);
    return parsed.checkPrivateKey(createPrivateKey(key))
      ? undefined
      : 'tls: private key does not match public key';
  } catch (error) {
    if (error instanceof Error) return `tls: failed to parse key pair`;
    throw error;
  }
}
