import type { PersistentVolumeClaim } from '@tinkernetes/api';
import { wantsToGrow } from './expand-controller';

const claim = (wanted: string, has: string | undefined, phase: 'Bound' | 'Pending' = 'Bound') =>
  ({
    metadata: { name: 'c' },
    spec: { resources: { requests: { storage: wanted } } },
    status: { phase, ...(has ? { capacity: { storage: has } } : {}) },
  }) as PersistentVolumeClaim;

it.each([
  ['asks for more than it has', claim('2Gi', '1Gi'), true],
  ['has what it asks for', claim('1Gi', '1024Mi'), false],
  ['has more', claim('1Gi', '2Gi'), false],
  ['is not bound', claim('2Gi', '1Gi', 'Pending'), false],
  ['does not know yet what it has', claim('2Gi', undefined), false],
])('knows of a claim that %s whether it is to grow', (_, given, expected) => {
  expect(wantsToGrow(given)).toBe(expected);
});
