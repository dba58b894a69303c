import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Clock } from '../clock';
import { issuedBy, isWithin, periodOf, type Period } from './certificates';
import type { LoopbackIdentity } from './loopback-network';
import type { LoopbackPeer } from './loopback-socket';

const clientAuthUsage = '1.3.6.1.5.5.7.3.2';
/** Identities are few, but nodes renew theirs. */
const maxRemembered = 1000;

/**
 * What a TLS server that trusts `authorities` knows of its clients, from the certificates and keys that they would use.
 * Each is read and checked once; whether it is still valid, each time.
 */
export function clientIdentities(
  authorities: readonly X509Certificate[],
  clock: Clock,
): (identity: LoopbackIdentity) => LoopbackPeer | undefined {
  const known = new Map<string, Trusted | undefined>();
  return ({ certificate: pem, key }) => {
    if (pem === undefined || key === undefined) return { certificate: undefined, authorized: false };
    const text = `${pem}${key}`;
    if (!known.has(text)) {
      if (known.size >= maxRemembered) known.clear();
      known.set(text, trusted(new X509Certificate(pem), key, authorities));
    }
    const found = known.get(text);
    return found && isWithin(clock.now(), found.period) ? found.peer : undefined;
  };
}

interface Trusted {
  peer: LoopbackPeer;
  period: Period;
}

function trusted(
  certificate: X509Certificate,
  key: string,
  authorities: readonly X509Certificate[],
): Trusted | undefined {
  const isForClients = certificate.keyUsage?.includes(clientAuthUsage) ?? true;
  return isForClients &&
    certificate.checkPrivateKey(createPrivateKey(key)) &&
    issuedBy(certificate, authorities)
    ? { peer: { certificate, authorized: true }, period: periodOf(certificate) }
    : undefined;
}
