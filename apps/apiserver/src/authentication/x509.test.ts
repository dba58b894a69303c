import { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { LoopbackSocket } from '@tinkernetes/component-base';
import { VirtualClock } from '@tinkernetes/component-base/testing';
import { createX509Authenticator } from './x509';

/** `openssl req -x509 -subj /O=system:nodes/CN=system:kube-controller-manager/CN=system:node:a` */
const certificate = new X509Certificate(`-----BEGIN CERTIFICATE-----
MIICBzCCAa2gAwIBAgIUQX9Q70iIjeVs+lIK1/HWrr1nBlMwCgYIKoZIzj0EAwIw
WDEVMBMGA1UECgwMc3lzdGVtOm5vZGVzMScwJQYDVQQDDB5zeXN0ZW06a3ViZS1j
b250cm9sbGVyLW1hbmFnZXIxFjAUBgNVBAMMDXN5c3RlbTpub2RlOmEwIBcNMjYx
MTMwMDg0OTQxWhgPMjEyNjExMDYwODQ5NDFaMFgxFTATBgNVBAoMDHN5c3RlbTpu
b2RlczEnMCUGA1UEAwwec3lzdGVtOmt1YmUtY29udHJvbGxlci1tYW5hZ2VyMRYw
FAYDVQQDDA1zeXN0ZW06bm9kZTphMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
goqHeSbaukF7cxI5X5tBBivBZqmThvpnQZJ3mODD8ATP8+wFdnF82VnqHnUOHre5
RmXmlNhQqWeH8+zMKVpX/aNTMFEwHQYDVR0OBBYEFLVDSLudl684n1v+58+fSNqb
61NvMB8GA1UdIwQYMBaAFLVDSLudl684n1v+58+fSNqb61NvMA8GA1UdEwEB/wQF
MAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIhAMNEQ01j5KPBRwXIiihk4vvpZKyF2iUC
YaWBRhccxUo6AiBeAiMBpHhDbH+Bi52DXqnA8mxlYzH8y2Om3px+KJ3mrQ==
-----END CERTIFICATE-----`);

function requestWith(headers: Record<string, string> = {}): IncomingMessage {
  const { server: socket } = LoopbackSocket.connection(1, { certificate, authorized: true });
  return { socket, headers } as unknown as IncomingMessage;
}

it('takes the last of several common names, as those do who approve requests', async () => {
  const clock = new VirtualClock(Date.parse('2027-01-01'));
  const answer = await createX509Authenticator({ clock }).authenticate(requestWith());
  expect(answer?.user).toEqual({ name: 'system:node:a', groups: ['system:nodes'] });
});

it('knows nobody any more whose certificate has ended, on the same connection', async () => {
  const clock = new VirtualClock(Date.parse(certificate.validTo));
  const x509 = createX509Authenticator({ clock });
  const request = requestWith();
  expect((await x509.authenticate(request))?.user.name).toBe('system:node:a');
  await clock.advance(1000);
  await expect(x509.authenticate(request)).rejects.toMatchObject({ code: 401 });
  expect(await x509.authenticate(requestWith({ authorization: 'Bearer abc' }))).toBeUndefined();
});
