import { signerRefusal, type RequestedCertificate, type SignerName } from './signers';

const asked = (own: Partial<RequestedCertificate> = {}): RequestedCertificate => ({
  commonName: 'system:node:n1',
  organizations: ['system:nodes'],
  dnsNames: [],
  ipAddresses: [],
  emailAddresses: [],
  uris: [],
  ...own,
});
const client = ['digital signature', 'key encipherment', 'client auth'];
const server = ['digital signature', 'key encipherment', 'server auth'];
const toKubelet = 'kubernetes.io/kube-apiserver-client-kubelet';
const serving = 'kubernetes.io/kubelet-serving';
const toServer = 'kubernetes.io/kube-apiserver-client';

it.each<[SignerName, RequestedCertificate, string[]]>([
  [toKubelet, asked(), client],
  [toKubelet, asked(), ['client auth', 'digital signature']],
  [serving, asked({ dnsNames: ['n1'] }), server],
  [serving, asked({ ipAddresses: ['10.0.0.1'] }), ['server auth', 'digital signature']],
  [toServer, asked({ commonName: 'jane', organizations: [], dnsNames: ['jane'] }), ['client auth']],
  [toServer, asked({ commonName: 'jane' }), client],
  ['kubernetes.io/legacy-unknown', asked({ commonName: 'any', organizations: [] }), ['cert sign']],
])('%s signs %j for %j', (signer, request, usages) => {
  expect(signerRefusal(signer, request, usages)).toBeUndefined();
});

it.each<[SignerName, RequestedCertificate, string[], string]>([
  [toKubelet, asked({ organizations: [] }), client, 'subject organization is not system:nodes'],
  [
    toKubelet,
    asked({ organizations: ['system:nodes', 'x'] }),
    client,
    'subject organization is not system:nodes',
  ],
  [toKubelet, asked({ dnsNames: ['n1'] }), client, 'DNS subjectAltNames are not allowed'],
  [toKubelet, asked({ emailAddresses: ['a@b.c'] }), client, 'Email subjectAltNames are not allowed'],
  [toKubelet, asked({ ipAddresses: ['10.0.0.1'] }), client, 'IP subjectAltNames are not allowed'],
  [toKubelet, asked({ uris: ['spiffe://a'] }), client, 'URI subjectAltNames are not allowed'],
  [toKubelet, asked({ commonName: 'n1' }), client, 'subject common name does not begin with system:node:'],
  [toKubelet, asked(), server, 'usages did not match [client auth digital signature key encipherment]'],
  [
    toKubelet,
    asked(),
    ['client auth'],
    'usages did not match [client auth digital signature key encipherment]',
  ],
  [serving, asked(), server, 'DNS or IP subjectAltName is required'],
  [serving, asked({ dnsNames: ['n1'], uris: ['spiffe://a'] }), server, 'URI subjectAltNames are not allowed'],
  [
    serving,
    asked({ dnsNames: ['n1'] }),
    client,
    'usages did not match [digital signature key encipherment server auth]',
  ],
  [
    serving,
    asked({ dnsNames: ['n1'], commonName: 'n1' }),
    server,
    'subject common name does not begin with system:node:',
  ],
  [toServer, asked(), server, 'invalid usage for client certificate: server auth'],
  [toServer, asked(), ['digital signature'], 'missing required usage for client certificate: client auth'],
])('%s refuses %j for %j: %s', (signer, request, usages, refusal) => {
  expect(signerRefusal(signer, request, usages)).toBe(refusal);
});
