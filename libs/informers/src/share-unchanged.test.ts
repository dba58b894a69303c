import { shareUnchanged } from './share-unchanged';

const version = (change: object = {}) => ({
  metadata: { name: 'a', labels: { app: 'web' }, resourceVersion: '1' },
  spec: { containers: [{ name: 'main' }], nodeName: 'n' },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
  ...change,
});

describe('shareUnchanged', () => {
  it.each([
    ['a member that is the same', version(), ['spec', 'status', 'metadata']],
    [
      'members of one that changed',
      version({ spec: { ...version().spec, nodeName: 'm' } }),
      ['spec.containers'],
    ],
    ['nothing of a list that changed', version({ status: { conditions: [{ type: 'Ready' }] } }), ['spec']],
    ['nothing that is new', version({ extra: {} }), ['spec']],
  ])('shares %s', (_, newer, shared) => {
    const older = version();
    const expected = structuredClone(newer);
    shareUnchanged(older, newer);
    expect(newer).toEqual(expected);
    const at = (object: object, path: string) =>
      path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], object);
    for (const path of shared) expect(at(newer, path)).toBe(at(older, path));
  });

  it('leaves what differs as it is, in both', () => {
    const older = version();
    const newer = version({ spec: { nodeName: 'm' }, status: null });
    shareUnchanged(older, newer);
    expect(older).toEqual(version());
    expect(newer).toEqual(version({ spec: { nodeName: 'm' }, status: null }));
  });
});
