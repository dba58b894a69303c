import { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { LoopbackSocket } from '@tinkernetes/component-base';
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

it('takes the last of several common names, as those do who approve requests', async () => {
  const { server: socket } = LoopbackSocket.connection(1, { certificate, authorized: true });
  const request = { socket } as unknown as IncomingMessage;
  const answer = await createX509Authenticator().authenticate(request);
  expect(answer?.user).toEqual({ name: 'system:node:a', groups: ['system:nodes'] });
});
