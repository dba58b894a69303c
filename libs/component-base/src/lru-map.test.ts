import { LruMap } from './lru-map';

describe('LruMap', () => {
  it('drops what was not used for longest', () => {
    const map = new LruMap<string, number>(2);
    map.set('a', 1);
    map.set('b', 2);
    map.get('a');
    map.set('c', 3);
    expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([1, undefined, 3]);
  });

  it('keeps as many as it may when one of them changes', () => {
    const map = new LruMap<string, number>(2);
    map.set('a', 1);
    map.set('b', 2);
    map.set('b', 3);
    expect([map.get('a'), map.get('b')]).toEqual([1, 3]);
  });

  it('makes a value once', () => {
    const map = new LruMap<string, object>(1);
    const create = jest.fn(() => ({}));
    expect(map.getOrCreate('a', create)).toBe(map.getOrCreate('a', create));
    expect(create).toHaveBeenCalledTimes(1);
  });
});
