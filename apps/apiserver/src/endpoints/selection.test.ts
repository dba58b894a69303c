import { selectionOf } from './selection';
import type { ResourceRequest } from './context';
import { parseRequestInfo } from '../server/request-info';
import type { CacheEntry } from '../cacher/cache-entry';

const request = (path: string, query: string, strategy: object, namespaced = true) => {
  const search = new URLSearchParams(query);
  const info = parseRequestInfo('GET', path, search);
  return {
    info,
    query: search,
    namespace: info.namespace,
    resource: { descriptor: { namespaced }, strategy },
  } as unknown as ResourceRequest;
};
const entry = (name: string) => ({ name, namespace: 'a', labels: {} }) as unknown as CacheEntry;

describe('selectionOf', () => {
  it('takes the one object that a deprecated watch path names', () => {
    const selection = selectionOf(request('/api/v1/watch/namespaces/a/configmaps/x', '', {}));
    expect([selection.name, selection.selective]).toEqual(['x', true]);
    expect([selection.matches(entry('x')), selection.matches(entry('y'))]).toEqual([true, false]);
  });

  it.each([
    ['nope', {}, true, '"nope" is not a known field selector: only "metadata.name", "metadata.namespace"'],
    ['nope', { selectableFieldNames: ['x'] }, true, 'field label not supported: nope'],
    [
      'metadata.namespace',
      { selectableFieldNames: ['x'] },
      false,
      'field label not supported: metadata.namespace',
    ],
    [
      'nope',
      { selectableFieldNames: ['x'], unsupportedField: (field: string) => `no ${field} here` },
      true,
      'no nope here',
    ],
  ])('refuses the field %s of %j', (field, strategy, namespaced, message) => {
    const path = namespaced ? '/api/v1/namespaces/a/things' : '/api/v1/things';
    const asked = request(path, `fieldSelector=${field}%3D1`, strategy, namespaced);
    expect(() => selectionOf(asked)).toThrow(message);
  });
});
