import type { Pod, Toleration } from '@tinkernetes/api';
import { evictionTime } from './eviction-time';

const now = Date.UTC(2026, 0, 1);
const added = '2026-01-01T00:00:00Z';
const pod = (...tolerations: Toleration[]): Pod => ({
  metadata: { name: 'p' },
  spec: { containers: [], tolerations },
});
const node = (...keys: string[]) => ({
  spec: { taints: keys.map((key) => ({ key, effect: 'NoExecute' as const, timeAdded: added })) },
});
const tolerate = (key: string, tolerationSeconds?: number): Toleration => ({
  key,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds,
});

it.each([
  ['no taint', pod(), node(), undefined],
  ['no toleration', pod(), node('a'), 0],
  ['toleration without end', pod(tolerate('a')), node('a'), undefined],
  ['300 s', pod(tolerate('a', 300)), node('a'), now + 300_000],
  ['one of two tolerated', pod(tolerate('a', 300)), node('a', 'b'), 0],
  ['the shorter of two', pod(tolerate('a', 300), tolerate('b', 60)), node('a', 'b'), now + 60_000],
  ['negative means at once', pod(tolerate('a', -5)), node('a'), now],
])('C27 evicts with %s at %#', (_, p, n, expected) => {
  expect(evictionTime(p, n, now)).toBe(expected);
});
