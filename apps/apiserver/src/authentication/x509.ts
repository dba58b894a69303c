import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { unauthorized } from '@tinkernetes/apimachinery';
import type { Authenticator, UserInfo } from '../contracts';
import { certifiedSocket, isIssuedBy, type CertifiedSocket } from './certificate-issuer';

/**
 * The client certificate of the connection, which the TLS layer has checked against `--client-ca-file`: CN is the
 * user (of several the last, as for those who approve requests), each O a group.
 * Source: k8s.io/apiserver/pkg/authentication/request/x509 (CommonNameUserConversion).
 * `authorities`: whose certificates count, where the TLS layer trusts others besides (proxies').
 */
export function createX509Authenticator(authorities?: readonly X509Certificate[]): Authenticator {
  // A certificate belongs to its connection, on which many requests come.
  const users = new WeakMap<CertifiedSocket, CertificateUser>();
  const byFingerprint = new Map<string, CertificateUser>();
  return {
    name: 'X509',
    authenticate: async (request: IncomingMessage) => {
      const socket = certifiedSocket(request.socket);
      if (!socket) return undefined;
      let user = users.get(socket);
      if (user === undefined) users.set(socket, (user = certificateUser(socket, byFingerprint, authorities)));
      // A token beside an untrusted certificate may still be good.
      if (user === 'untrusted' && !request.headers.authorization) throw unauthorized();
      return typeof user === 'string' ? undefined : { user };
    },
  };
}

type CertificateUser = UserInfo | 'none' | 'untrusted';

/** Reading a certificate's subject costs a millisecond, and each watch comes over a connection of its own. */
const maxRemembered = 1000;

function certificateUser(
  socket: CertifiedSocket,
  known: Map<string, CertificateUser>,
  authorities: readonly X509Certificate[] | undefined,
): CertificateUser {
  const certificate = socket.getPeerX509Certificate();
  if (!certificate) return 'none';
  if (!socket.authorized) return 'untrusted';
  const { fingerprint256 } = certificate;
  let user = known.get(fingerprint256);
  if (user === undefined) {
    user = authorities && !isIssuedBy(socket, authorities) ? 'untrusted' : subjectUser(certificate);
  }
  if (known.size >= maxRemembered) known.clear();
  known.set(fingerprint256, user);
  return user;
}

function subjectUser(certificate: X509Certificate): CertificateUser {
  const { subject } = certificate.toLegacyObject();
  const name = values(subject.CN).at(-1) ?? '';
  return name === '' ? 'none' : { name, groups: values(subject.O) };
}

const values = (value: string | string[] | undefined): string[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];
