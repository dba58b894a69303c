import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { unauthorized } from '@tinkernetes/apimachinery';
import { realClock, type Clock } from '@tinkernetes/component-base';
import type { Authenticator, UserInfo } from '../contracts';
import { certifiedSocket, isIssuedBy, type CertifiedSocket } from './certificate-issuer';

export interface X509Options {
  /** Whose certificates count, where the TLS layer trusts others besides (proxies'). */
  authorities?: readonly X509Certificate[];
  /** Real time by default, as for the TLS layer. */
  clock?: Pick<Clock, 'now'>;
}

/**
 * The client certificate of the connection, which the TLS layer has checked against `--client-ca-file`: CN is the
 * user (of several the last, as for those who approve requests), each O a group.
 * Source: k8s.io/apiserver/pkg/authentication/request/x509 (CommonNameUserConversion).
 */
export function createX509Authenticator({ authorities, clock = realClock }: X509Options = {}): Authenticator {
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
      if (user === 'none') return undefined;
      // A connection may last longer than the certificate that opened it.
      if (user !== 'untrusted' && clock.now() <= user.endsAt) return { user: user.info };
      // A token beside an untrusted certificate may still be good.
      if (!request.headers.authorization) throw unauthorized();
      return undefined;
    },
  };
}

type CertificateUser = { info: UserInfo; endsAt: number } | 'none' | 'untrusted';

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
  if (name === '') return 'none';
  return { info: { name, groups: values(subject.O) }, endsAt: Date.parse(certificate.validTo) };
}

const values = (value: string | string[] | undefined): string[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];
