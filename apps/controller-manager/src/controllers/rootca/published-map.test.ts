import type { ConfigMap, Namespace } from '@tinkernetes/api';
import { isPublishedIn, publishedMap } from './published-map';

const annotations = { 'kubernetes.io/description': 'what it is for' };
const map = (data: Record<string, string>, metadata: Partial<ConfigMap['metadata']> = { annotations }) => ({
  metadata: { name: 'kube-root-ca.crt', namespace: 'ns', resourceVersion: '7', ...metadata },
  data,
});

// As upstream's TestConfigMapCreation and TestConfigMapUpdateNoHotLoop have them.
it.each<[string, ConfigMap | undefined, boolean]>([
  ['is not there', undefined, true],
  ['is right', map({ 'ca.crt': 'ca' }), false],
  ['has one more field', map({ 'ca.crt': 'ca', test: 'test' }), true],
  ['has another bundle', map({ 'ca.crt': 'abc' }), true],
  ['has no data', map({}), true],
  ['has lost its description', map({ 'ca.crt': 'ca' }, {}), true],
  [
    'has an empty description',
    map({ 'ca.crt': 'ca' }, { annotations: { 'kubernetes.io/description': '' } }),
    true,
  ],
])('a ConfigMap that %s is written: %s', (_, current, isWritten) => {
  const next = publishedMap('ns', current, 'ca');
  expect(next !== undefined).toBe(isWritten);
  // What was written is right from then on.
  if (next) expect(publishedMap('ns', next, 'ca')).toBeUndefined();
});

it('is made with the bundle and a description', () => {
  expect(publishedMap('ns', undefined, 'ca')).toEqual({
    metadata: {
      name: 'kube-root-ca.crt',
      namespace: 'ns',
      annotations: { 'kubernetes.io/description': expect.stringContaining('verify the kube-apiserver') },
    },
    data: { 'ca.crt': 'ca' },
  });
});

it('keeps what others wrote beside it, and the version that it changes', () => {
  const current = map({ 'ca.crt': 'old' }, { labels: { a: 'b' }, annotations: { mine: 'x' } });
  expect(publishedMap('ns', current, 'ca')?.metadata).toMatchObject({
    resourceVersion: '7',
    labels: { a: 'b' },
    annotations: { mine: 'x' },
  });
});

it.each<[string, Namespace | undefined, boolean]>([
  ['active', { metadata: { name: 'ns' }, spec: {}, status: { phase: 'Active' } }, true],
  ['new', { metadata: { name: 'ns' }, spec: {} }, true],
  ['terminating', { metadata: { name: 'ns' }, spec: {}, status: { phase: 'Terminating' } }, false],
  ['gone', undefined, false],
])('is published in a namespace that is %s: %s', (_, namespace, expected) => {
  expect(isPublishedIn(namespace)).toBe(expected);
});
