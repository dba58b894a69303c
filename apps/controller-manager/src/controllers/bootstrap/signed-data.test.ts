import type { Secret } from '@tinkernetes/api';
import { detachedSignature } from './bootstrap-tokens';
import { nextExpiration, signedData } from './signed-data';

const now = Date.parse('2026-01-01T00:00:00Z');
const encode = (text: string) => Buffer.from(text).toString('base64');
const value = '0123456789abcdef';
const token = (id: string, { expiration = '', signs = true } = {}): Secret => ({
  metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system' },
  type: 'bootstrap.kubernetes.io/token',
  data: {
    'token-id': encode(id),
    'token-secret': encode(value),
    'usage-bootstrap-signing': encode(String(signs)),
    ...(expiration ? { expiration: encode(expiration) } : {}),
  },
});
const kubeconfig = 'payload';
const by = (id: string) => ({
  [`jws-kubeconfig-${id}`]: detachedSignature(kubeconfig, { id, secret: value }),
});

// As upstream's tests of the signer have them: TestSimpleSign, TestNoSignNeeded, TestUpdateSignature, TestRemoveSignature.
it.each<[string, Record<string, string>, Secret[], Record<string, string> | undefined]>([
  ['is signed with a token', {}, [token('abcdef')], by('abcdef')],
  ['is signed with each', {}, [token('abcdef'), token('fedcba')], { ...by('abcdef'), ...by('fedcba') }],
  ['is left where it is signed', by('abcdef'), [token('abcdef')], undefined],
  [
    'is signed anew where the signature is old',
    { 'jws-kubeconfig-abcdef': 'old' },
    [token('abcdef')],
    by('abcdef'),
  ],
  ['loses the signature of a token that is gone', by('abcdef'), [], {}],
  [
    'loses that of one that has expired',
    by('abcdef'),
    [token('abcdef', { expiration: '2025-12-31T00:00:00Z' })],
    {},
  ],
  ['is not signed with one that may not', {}, [token('abcdef', { signs: false })], undefined],
  ['keeps what else it says', { other: 'x' }, [token('abcdef')], { other: 'x', ...by('abcdef') }],
])('cluster-info %s', (_, more, tokens, expected) => {
  expect(signedData({ kubeconfig, ...more }, tokens, now)).toEqual(expected && { kubeconfig, ...expected });
});

it.each<[string, string[], string | undefined]>([
  ['without any', [], undefined],
  ['that do not end', [''], undefined],
  ['of which one ends', ['', '2026-01-01T00:01:00Z'], '2026-01-01T00:01:00Z'],
  ['of which several end', ['2026-01-01T00:02:00Z', '2026-01-01T00:01:00Z'], '2026-01-01T00:01:00Z'],
  ['that have ended', ['2025-12-31T00:00:00Z', '2026-01-01T00:00:00Z'], undefined],
])('looks again, for tokens %s, when the first ends', (_, expirations, expected) => {
  const tokens = expirations.map((expiration, i) => token(`token${i}`, { expiration }));
  expect(nextExpiration(tokens, now)).toBe(expected === undefined ? undefined : Date.parse(expected));
});
