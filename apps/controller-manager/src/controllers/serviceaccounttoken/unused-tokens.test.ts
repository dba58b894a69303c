import type { Pod, Secret, ServiceAccount } from '@tinkernetes/api';
import { fateOf, invalidSinceLabel, lastUsedLabel, secretsOfPod } from './unused-tokens';

const day = 24 * 3600_000;
const now = Date.parse('2026-06-01T12:00:00Z');
const account: ServiceAccount = {
  metadata: { name: 'robot', namespace: 'a', uid: 'u1' },
  secrets: [{ name: 'robot-token' }],
};
const token = (labels: Record<string, string> = {}, metadata: Partial<Secret['metadata']> = {}): Secret => ({
  metadata: {
    name: 'robot-token',
    namespace: 'a',
    creationTimestamp: '2025-01-01T00:00:00Z',
    annotations: { 'kubernetes.io/service-account.name': 'robot', 'kubernetes.io/service-account.uid': 'u1' },
    labels,
    ...metadata,
  },
  type: 'kubernetes.io/service-account-token',
});
const fate = (secret: Secret, extra: { isMounted?: boolean; account?: ServiceAccount | null } = {}) =>
  fateOf(secret, {
    account: extra.account === null ? undefined : (extra.account ?? account),
    isMounted: extra.isMounted ?? false,
    now,
    cleanUpPeriodMs: 30 * day,
  });

describe('fateOf', () => {
  it.each<[string, string, string]>([
    ['is invalidated when it was never used', fate(token()), 'invalidate'],
    [
      'is invalidated when it was used long ago',
      fate(token({ [lastUsedLabel]: '2026-04-01' })),
      'invalidate',
    ],
    ['is kept when it was used lately', fate(token({ [lastUsedLabel]: '2026-05-20' })), 'keep'],
    ['is kept when its last use is no day', fate(token({ [lastUsedLabel]: 'May' })), 'keep'],
    ['is kept when it is young', fate(token({}, { creationTimestamp: '2026-05-20T00:00:00Z' })), 'keep'],
    ['is kept while a Pod has it', fate(token(), { isMounted: true }), 'keep'],
    ['is kept when it was made by hand', fate(token(), { account: { ...account, secrets: [] } }), 'keep'],
    ['is kept without its account', fate(token(), { account: null }), 'keep'],
    ['is kept for a while when it is invalid', fate(token({ [invalidSinceLabel]: '2026-05-20' })), 'keep'],
    ['is deleted when it was invalid for long', fate(token({ [invalidSinceLabel]: '2026-04-20' })), 'delete'],
  ])('a token %s', (_, is, expected) => expect(is).toBe(expected));
});

it('secretsOfPod finds them in volumes, variables and pull secrets', () => {
  const pod = {
    metadata: { name: 'p' },
    spec: {
      imagePullSecrets: [{ name: 'pull' }],
      volumes: [
        { name: 'v', secret: { secretName: 'volume' } },
        { name: 'w', projected: { sources: [{ secret: { name: 'projected' } }] } },
      ],
      initContainers: [{ name: 'i', image: 'x', envFrom: [{ secretRef: { name: 'all' } }] }],
      containers: [
        {
          name: 'c',
          image: 'x',
          env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 'one', key: 'k' } } }],
        },
      ],
    },
  } as Pod;
  expect(secretsOfPod(pod).sort()).toEqual(['all', 'one', 'projected', 'pull', 'volume']);
});
