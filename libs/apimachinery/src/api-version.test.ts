import { splitApiVersion } from './api-version';

it.each([
  ['v1', ['', 'v1']],
  ['apps/v1', ['apps', 'v1']],
  ['', ['', '']],
  ['a/b/v1', ['', '']],
])('splits %j into %j', (apiVersion, expected) => {
  expect(splitApiVersion(apiVersion)).toEqual(expected);
});
