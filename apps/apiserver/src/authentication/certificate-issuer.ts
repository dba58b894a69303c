import type { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { certificatesIn, LoopbackSocket } from '@tinkernetes/component-base';

export { certificatesIn };

/** A connection whose client may have shown a certificate, which has been checked. */
export interface CertifiedSocket {
  readonly authorized: boolean;
  getPeerX509Certificate(): X509Certificate | undefined;
}

export const certifiedSocket = (socket: Socket | LoopbackSocket): CertifiedSocket | undefined =>
  socket instanceof TLSSocket || socket instanceof LoopbackSocket ? socket : undefined;

/** Longer chains of intermediate authorities are not followed. */
const maxChain = 5;

/**
 * Whether one of these authorities vouches for a connection's client certificate. The TLS layer has checked it against
 * all authorities that any authenticator trusts.
 */
export function isIssuedBy(socket: CertifiedSocket, authorities: readonly X509Certificate[]): boolean {
  let certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined;
  for (let depth = 0; certificate && depth < maxChain; depth++) {
    const issued = certificate;
    if (authorities.some((ca) => issued.checkIssued(ca) && issued.verify(ca.publicKey))) return true;
    certificate = certificate.issuerCertificate;
  }
  return false;
}
