import { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';

/** Longer chains of intermediate authorities are not followed. */
const maxChain = 5;

/** The certificates of a PEM bundle. */
export const certificatesIn = (bundle: string): X509Certificate[] =>
  (bundle.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? []).map(
    (pem) => new X509Certificate(pem),
  );

/**
 * Whether one of these authorities vouches for a connection's client certificate. The TLS layer has checked it against
 * all authorities that any authenticator trusts.
 */
export function isIssuedBy(socket: TLSSocket, authorities: readonly X509Certificate[]): boolean {
  let certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined;
  for (let depth = 0; certificate && depth < maxChain; depth++) {
    const issued = certificate;
    if (authorities.some((ca) => issued.checkIssued(ca) && issued.verify(ca.publicKey))) return true;
    certificate = certificate.issuerCertificate;
  }
  return false;
}
