import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { unauthorized } from '@tinkernetes/apimachinery';
import type { Authenticator, UserInfo } from '../contracts';

/**
 * The client certificate of the connection, which the TLS layer has checked against `--client-ca-file`: CN is the
 * user, each O a group. Source: k8s.io/apiserver/pkg/authentication/request/x509 (CommonNameUserConversion).
 */
export function createX509Authenticator(): Authenticator {
  // A certificate belongs to its connection, on which many requests come.
  const users = new WeakMap<TLSSocket, UserInfo | 'none' | 'untrusted'>();
  return {
    name: 'X509',
    authenticate: async (request: IncomingMessage) => {
      const { socket } = request;
      if (!(socket instanceof TLSSocket)) return undefined;
      let user = users.get(socket);
      if (user === undefined) users.set(socket, (user = certificateUser(socket)));
      // A token beside an untrusted certificate may still be good.
      if (user === 'untrusted' && !request.headers.authorization) throw unauthorized();
      return typeof user === 'string' ? undefined : { user };
    },
  };
}

function certificateUser(socket: TLSSocket): UserInfo | 'none' | 'untrusted' {
  const { subject } = socket.getPeerCertificate() as {
    subject?: Record<string, string | string[] | undefined>;
  };
  if (!subject) return 'none';
  if (!socket.authorized) return 'untrusted';
  const [name = ''] = values(subject.CN);
  return name === '' ? 'none' : { name, groups: values(subject.O) };
}

const values = (value: string | string[] | undefined): string[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];
