import { X509Certificate } from 'node:crypto';
import type { CertificateSigningRequest } from '@tinkernetes/api';

const hourMs = 3600_000;

/**
 * When a request is of no use to anybody, in epoch milliseconds: an hour after it was issued, denied or failed, at the
 * end of its certificate, or a day after it was made if nobody has decided. Infinity: it waits for its signer.
 * Source: k8s.io/kubernetes/pkg/controller/certificates/cleaner.
 */
export function staleAt({ metadata, status }: CertificateSigningRequest): number {
  const conditions = status?.conditions ?? [];
  if (conditions.length === 0) return Date.parse(metadata.creationTimestamp ?? '') + 24 * hourMs;
  const certificate = status?.certificate;
  const times = conditions.flatMap(({ type, lastUpdateTime }) => {
    const isFinal = type === 'Denied' || type === 'Failed' || (type === 'Approved' && certificate);
    return isFinal && lastUpdateTime ? [Date.parse(lastUpdateTime) + hourMs] : [];
  });
  if (certificate && conditions.some(({ type }) => type === 'Approved')) times.push(endOf(certificate));
  return Math.min(Infinity, ...times);
}

function endOf(certificate: string): number {
  return Date.parse(new X509Certificate(Buffer.from(certificate, 'base64')).validTo);
}
