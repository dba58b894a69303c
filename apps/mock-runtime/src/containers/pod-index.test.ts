import { PodIndex } from './pod-index';

describe('PodIndex', () => {
  const of = (uid: string) => ({ 'io.kubernetes.pod.uid': uid, app: 'web' });

  it('knows what belongs to a Pod, until it is gone', () => {
    const index = new PodIndex<string>();
    index.add(of('a'), 'first');
    index.add(of('a'), 'second');
    index.add(of('b'), 'other');
    expect(index.candidates(of('a'))).toEqual(['first', 'second']);
    index.delete(of('a'), 'first');
    expect(index.candidates(of('a'))).toEqual(['second']);
    index.delete(of('a'), 'second');
    expect(index.candidates(of('a'))).toEqual([]);
    expect(index.candidates(of('b'))).toEqual(['other']);
  });

  it('does not know where no Pod is named, and takes what belongs to none', () => {
    const index = new PodIndex<string>();
    index.add({}, 'alone');
    index.delete({}, 'alone');
    expect(index.candidates({ app: 'web' })).toBeUndefined();
    expect(index.candidates(undefined)).toBeUndefined();
  });
});
