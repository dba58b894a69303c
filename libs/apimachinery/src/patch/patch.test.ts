import fc from 'fast-check';
import { applyJsonPatch } from './json-patch';
import { applyMergePatch } from './merge-patch';

describe('JSON patch', () => {
  const document = { a: { b: 1, 'c/d': 2 }, list: [1, 2, 3] };

  it.each([
    ['add', [{ op: 'add', path: '/a/x', value: 9 }], { ...document, a: { ...document.a, x: 9 } }],
    ['add at the end', [{ op: 'add', path: '/list/-', value: 4 }], { ...document, list: [1, 2, 3, 4] }],
    ['insert', [{ op: 'add', path: '/list/1', value: 9 }], { ...document, list: [1, 9, 2, 3] }],
    ['replace what is absent', [{ op: 'replace', path: '/z', value: 1 }], { ...document, z: 1 }],
    ['escaped names', [{ op: 'remove', path: '/a/c~1d' }], { ...document, a: { b: 1 } }],
    ['count from the end', [{ op: 'remove', path: '/list/-1' }], { ...document, list: [1, 2] }],
    ['move', [{ op: 'move', from: '/a/b', path: '/b' }], { a: { 'c/d': 2 }, list: [1, 2, 3], b: 1 }],
    [
      'copy',
      [{ op: 'copy', from: '/list', path: '/a/b' }],
      { ...document, a: { ...document.a, b: [1, 2, 3] } },
    ],
    ['test a missing member for null', [{ op: 'test', path: '/none', value: null }], document],
    ['a copy of what is absent', [{ op: 'copy', from: '/z', path: '/y' }], { ...document, y: null }],
    ['a document in its place', [{ op: 'replace', path: '', value: { z: 1 } }], { z: 1 }],
    ['a test of what is absent', [{ op: 'test', path: '/z', value: null }], document],
    ['null', null, document],
  ])('applies %s', (_name, patch, expected) => {
    expect(applyJsonPatch(document, patch)).toEqual(expected);
  });

  it.each([
    [[{ op: 'remove', path: '/none' }], 422],
    [[{ op: 'test', path: '/a/b', value: 2 }], 422],
    [[{ op: 'add', path: '/no/where', value: 1 }], 422],
    [[{ op: 'add', path: '/list/9', value: 1 }], 422],
    [[{ op: 'add', path: '/list/x', value: 1 }], 422],
    [[{ op: 'remove', path: '/list/1x' }], 422],
    [[{ op: 'replace', path: '', value: 'text' }], 422],
    [[null], 422],
    [[{ op: 'add', path: '', value: 1 }], 422],
    [[{ op: 'add', path: '/constructor/prototype/polluted', value: 1 }], 422],
    [[{ op: 'frobnicate', path: '/a' }], 422],
    [{ op: 'add' }, 400],
    [[7], 400],
    [new Array(10_001).fill({ op: 'test', path: '/a/b', value: 1 }), 413],
  ])('refuses a patch that does not apply', (patch, code) => {
    expect(() => applyJsonPatch(document, patch)).toThrow(expect.objectContaining({ code }));
  });

  it('keeps `__proto__` as data', () => {
    const patched = applyJsonPatch({}, [{ op: 'add', path: '/__proto__', value: { polluted: true } }]);
    expect(Object.keys(patched as object)).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('merge patch', () => {
  it.each([
    [{ a: 1 }, { b: 2 }, { a: 1, b: 2 }],
    [{ a: { b: 1, c: 2 } }, { a: { b: null } }, { a: { c: 2 } }],
    [{ a: [1, 2] }, { a: [3] }, { a: [3] }],
    [{ a: 1 }, 'text', 'text'],
    ['text', { a: { b: null, c: 1 } }, { a: { c: 1 } }],
  ])('%j with %j becomes %j', (target, patch, expected) => {
    expect(applyMergePatch(target, patch)).toEqual(expected);
  });

  it('changes nothing when the result is patched again, and never its arguments', () => {
    fc.assert(
      fc.property(fc.object(), fc.object(), (target, patch) => {
        const [before, asked] = [structuredClone(target), structuredClone(patch)];
        const once = applyMergePatch(target, patch);
        expect(applyMergePatch(once, patch)).toEqual(once);
        expect([target, patch]).toEqual([before, asked]);
      }),
    );
  });
});
