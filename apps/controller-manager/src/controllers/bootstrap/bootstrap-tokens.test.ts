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

// When the token cleaner deletes it, as upstream's TestCleaner… have it.
it.each<[string, string, number | undefined]>([
  ['never, where nothing is said', '', undefined],
  ['at the time that is said', '2026-01-01T00:00:01Z', now + 1000],
  ['in the zone that is said', '2026-01-01T01:00:01+01:00', now + 1000],
  ['at once, where what is said is no time', 'soon', 0],
  ['at once, where what is said is a day', '2026-01-01', 0],
])('a token ends %s', (_, expiration, expected) => {
  expect(expirationOf(secret({ ...good, expiration }))).toBe(expected);
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
