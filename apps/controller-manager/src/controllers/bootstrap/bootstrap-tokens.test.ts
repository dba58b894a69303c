import type { Secret } from '@tinkernetes/api';
import { detachedSignature, expirationOf, signingTokenOf } from './bootstrap-tokens';

const now = Date.parse('2026-01-01T00:00:00Z');
const encode = (data: Record<string, string>) =>
  Object.fromEntries(Object.entries(data).map(([k, v]) => [k, Buffer.from(v).toString('base64')]));
const good = { 'token-id': 'abcdef', 'token-secret': '0123456789abcdef', 'usage-bootstrap-signing': 'true' };
const secret = (data: Record<string, string>, name = 'bootstrap-token-abcdef'): Secret => ({
  metadata: { name, namespace: 'kube-system' },
  type: 'bootstrap.kubernetes.io/token',
  data: encode(data),
});

describe('signingTokenOf', () => {
  it.each<[string, Secret, boolean]>([
    ['signs with a complete token', secret(good), true],
    ['not under another name', secret(good, 'bootstrap-token-zzzzzz'), false],
    ['not without a secret', secret({ ...good, 'token-secret': '' }), false],
    ['not where it may not sign', secret({ ...good, 'usage-bootstrap-signing': 'yes' }), false],
    ['until it expires', secret({ ...good, expiration: '2026-01-01T00:00:01Z' }), true],
    ['not after it has expired', secret({ ...good, expiration: '2026-01-01T00:00:00Z' }), false],
    ['not where the expiration is no time', secret({ ...good, expiration: 'soon' }), false],
  ])('%s', (_, token, signs) => expect(signingTokenOf(token, now) !== undefined).toBe(signs));
});

it('expirationOf is undefined for a token that does not end', () => {
  expect(expirationOf(secret(good))).toBeUndefined();
});

it('detachedSignature is a JWS without its payload', () => {
  // The example of k8s.io/cluster-bootstrap/token/jws.
  const signature = detachedSignature('Hello from the other side. I must have called a thousand times.', {
    id: 'joshua',
    secret: 'my voice is my passcode',
  });
  expect(signature).toBe(
    'eyJhbGciOiJIUzI1NiIsImtpZCI6Impvc2h1YSJ9..VShe2taLd-YTrmWuRkcL_8QTNDHYxQIEBsAYYiIj1_8',
  );
});
