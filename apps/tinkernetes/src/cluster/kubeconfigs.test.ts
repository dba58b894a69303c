import { parse, stringify } from 'yaml';
import { componentKubeconfigText, userKubeconfigText, type KubeconfigContent } from './kubeconfigs';

const content: KubeconfigContent = {
  server: 'https://127.0.0.1:6443',
  ca: '-----BEGIN CERTIFICATE-----\n+/8=\n-----END CERTIFICATE-----\n',
  user: 'kubernetes-admin',
  credential: { certificate: 'certificate', key: 'key' },
};

it.each([
  ['a certificate', content],
  ['an IPv6 address', { ...content, server: 'https://[::1]:6443' }],
  ['a token', { ...content, credential: { token: '0123.4567' } }],
  ['names that mean something to YAML', { ...content, user: 'yes', credential: { token: 'a: #b' } }],
] as const)('writes for people, with %s, what it writes for components', (_, given) => {
  expect(parse(userKubeconfigText(given))).toEqual(JSON.parse(componentKubeconfigText(given)));
});

it('writes as a YAML library would', () => {
  expect(userKubeconfigText(content)).toBe(
    stringify(JSON.parse(componentKubeconfigText(content)), { lineWidth: 0 }),
  );
});
