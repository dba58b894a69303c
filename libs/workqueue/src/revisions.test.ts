import { mergeRevisions } from './revisions';

describe('mergeRevisions', () => {
  it.each([
    [undefined, undefined, undefined],
    ['pods=1', undefined, 'pods=1'],
    [undefined, 'pods=1', 'pods=1'],
    ['pods=9,jobs.batch=7', 'pods=10', 'pods=10,jobs.batch=7'],
    ['pods=10', 'pods=9,nodes=3', 'pods=10,nodes=3'],
  ])('makes of %s and %s %s', (a, b, merged) => expect(mergeRevisions(a, b)).toBe(merged));
});
