import { loadSchemas } from '@tinkernetes/api';
import { applyStrategicMergePatch } from './strategic-merge-patch';

const patchPod = (original: unknown, patch: unknown) =>
  applyStrategicMergePatch(original, patch, 'io.k8s.api.core.v1.Pod', loadSchemas());
const patchService = (original: unknown, patch: unknown) =>
  applyStrategicMergePatch(original, patch, 'io.k8s.api.core.v1.Service', loadSchemas());
const withContainers = (...containers: object[]) => ({ spec: { containers } });

describe('strategic merge patch', () => {
  it.each([
    [
      'merges list elements by their key',
      withContainers({ name: 'a', image: 'x', env: [{ name: 'X', value: '1' }] }),
      withContainers({ name: 'a', env: [{ name: 'Y', value: '2' }] }),
      withContainers({
        name: 'a',
        image: 'x',
        env: [
          { name: 'Y', value: '2' },
          { name: 'X', value: '1' },
        ],
      }),
    ],
    [
      'deletes an element',
      withContainers({ name: 'a' }, { name: 'b' }),
      withContainers({ name: 'a', $patch: 'delete' }),
      withContainers({ name: 'b' }),
    ],
    [
      'replaces a whole list',
      withContainers({ name: 'a' }, { name: 'b' }),
      withContainers({ $patch: 'replace' }, { name: 'c' }),
      withContainers({ name: 'c' }),
    ],
    [
      'follows the asked-for order',
      withContainers({ name: 'a' }, { name: 'b' }, { name: 'c' }),
      { spec: { '$setElementOrder/containers': [{ name: 'c' }, { name: 'a' }, { name: 'b' }] } },
      withContainers({ name: 'c' }, { name: 'a' }, { name: 'b' }),
    ],
    [
      'keeps only the retained members',
      { spec: { nodeName: 'n', hostname: 'h' } },
      { spec: { $retainKeys: ['hostname'], hostname: 'i' } },
      { spec: { hostname: 'i' } },
    ],
    [
      'takes values out of a primitive list',
      { metadata: { finalizers: ['a/b', 'c/d'] } },
      { metadata: { '$deleteFromPrimitiveList/finalizers': ['a/b'] } },
      { metadata: { finalizers: ['c/d'] } },
    ],
    [
      'replaces, empties and removes maps',
      { spec: { nodeSelector: { a: 'b' } }, metadata: { labels: { x: 'y' }, annotations: { m: 'n' } } },
      {
        spec: { nodeSelector: { $patch: 'replace', c: 'd' } },
        metadata: { labels: { $patch: 'delete' }, annotations: null },
      },
      { spec: { nodeSelector: { c: 'd' } }, metadata: { labels: {} } },
    ],
  ])('%s', (_rule, original, patch, expected) => {
    expect(patchPod(original, patch)).toEqual(expected);
  });

  it('C01: merges Service ports by `port` alone: both patch elements land on the first with that port', () => {
    const port = (name: string, protocol: string, targetPort: number) => ({
      name,
      port: 443,
      protocol,
      targetPort,
    });
    const original = { spec: { ports: [port('t', 'TCP', 8443), port('q', 'UDP', 8443)] } };
    const patch = { spec: { ports: [port('t', 'TCP', 9443), port('q', 'UDP', 9443)] } };
    const expected = { spec: { ports: [port('q', 'UDP', 9443), port('q', 'UDP', 8443)] } };
    expect(patchService(original, patch)).toEqual(expected);
  });

  it.each([
    [withContainers({ image: 'nokey' }), 'map: map[image:nokey] does not contain declared merge key: name'],
    [{ spec: { $patch: 'explode' } }, 'unknown patch type: explode in map: map[$patch:explode]'],
    [{ spec: { $patch: 5 } }, 'unknown patch type: %!s(int64=5) in map: map[$patch:5]'],
    [withContainers({ $patch: 'merge' }), 'merging lists cannot yet be specified in the patch'],
    [
      { spec: { '$setElementOrder/containers': [{ name: 'b' }], containers: [{ name: 'a' }] } },
      "The order in patch list:\n[map[name:a]]\n doesn't match $setElementOrder list:\n[map[name:b]]\n",
    ],
    [{ spec: { '$setElementOrder/containers': 'x' } }, 'expected a []interface {}, but received a string'],
    [{ spec: { '$setElementOrder/containers': ['a'] } }, 'value for key 0 is not a map'],
    [
      { spec: { '$setElementOrder/nope': [] } },
      'unable to find api field in struct PodSpec for the json field "nope"',
    ],
    [{ spec: { containers: [5] } }, 'list element types are not identical: [[map[name:a]] [5]]'],
  ])('answers %j with upstream’s 500', (patch, message) => {
    const apply = () => patchPod(withContainers({ name: 'a' }), patch);
    expect(apply).toThrow(message);
    expect(apply).toThrow(expect.objectContaining({ code: 500, reason: 'Unknown' }));
  });

  it('keeps `__proto__` as data', () => {
    const patch: unknown = JSON.parse('{"metadata":{"labels":{"__proto__":"x"}}}');
    patchPod({ metadata: { labels: { a: 'b' } } }, patch);
    expect(({} as Record<string, unknown>).x).toBeUndefined();
    expect(Object.getPrototypeOf({})).toBe(Object.prototype);
  });
});
