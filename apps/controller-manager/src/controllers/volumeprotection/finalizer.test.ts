import { withFinalizer, withoutFinalizer } from './finalizer';

const object = (finalizers?: string[]) => ({ metadata: { name: 'o', finalizers } });

it.each([
  ['none', undefined, ['a']],
  ['others', ['b', 'c'], ['b', 'c', 'a']],
])('puts its finalizer after %s', (_, before, after) => {
  expect(withFinalizer(object(before), 'a').metadata.finalizers).toEqual(after);
});

it.each([
  ['alone', ['a'], []],
  ['among others', ['b', 'a', 'c'], ['b', 'c']],
])('takes its finalizer away that is there %s', (_, before, after) => {
  expect(withoutFinalizer(object(before), 'a').metadata.finalizers).toEqual(after);
});

it('gives back the very object where nothing changes, so that nothing is written', () => {
  const [has, lacks] = [object(['a']), object(['b'])];
  expect(withFinalizer(has, 'a')).toBe(has);
  expect(withoutFinalizer(lacks, 'a')).toBe(lacks);
});
