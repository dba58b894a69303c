import type { KubeObject } from '@tinkernetes/api';
import { Store } from './store';

const object = (name: string, namespace?: string, labels?: Record<string, string>): KubeObject => ({
  metadata: { name, namespace, labels },
});

describe('Store', () => {
  it('finds objects by name, key and namespace', () => {
    const store = new Store();
    store.put(object('a', 'x'));
    store.put(object('a', 'y'));
    store.put(object('node'));
    expect(store.get('a', 'x')?.metadata.namespace).toBe('x');
    expect(store.getByKey('y/a')?.metadata.namespace).toBe('y');
    expect(store.get('node')).toBeDefined();
    expect(store.list('x')).toHaveLength(1);
    expect(store.size).toBe(3);
  });

  it('gives the same list until something changes', () => {
    const store = new Store();
    store.put(object('a', 'x'));
    const before = store.list();
    expect(store.list()).toBe(before);
    store.put(object('b', 'x'));
    expect(store.list()).not.toBe(before);
    expect(before).toHaveLength(1);
  });

  it('moves an object between index values, and out of the index with its removal', () => {
    const store = new Store();
    store.addIndex('app', (o) => (o.metadata.labels?.app ? [o.metadata.labels.app] : []));
    store.put(object('a', 'x', { app: 'web' }));
    store.put(object('b', 'x', { app: 'web' }));
    expect(store.byIndex('app', 'web')).toHaveLength(2);
    store.put(object('a', 'x', { app: 'db' }));
    expect(store.byIndex('app', 'web').map((o) => o.metadata.name)).toEqual(['b']);
    expect(store.byIndex('app', 'db').map((o) => o.metadata.name)).toEqual(['a']);
    store.remove('x/a');
    expect(store.byIndex('app', 'db')).toEqual([]);
    expect(store.list('x')).toHaveLength(1);
  });

  it('leaves lists of other values untouched by a change', () => {
    const store = new Store();
    store.put(object('a', 'x'));
    const before = store.list('x');
    store.put(object('b', 'y'));
    expect(store.list('x')).toBe(before);
  });

  it('refuses an index that nobody made', () => {
    expect(() => new Store().byIndex('nope', 'x')).toThrow('no index "nope"');
  });
});
