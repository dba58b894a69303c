import type { EndpointSlice } from '@tinkernetes/api';
import { WrittenSlices } from './written-slices';

const slice = (resourceVersion: string, generation: number, labels = {}): EndpointSlice => ({
  metadata: { name: 's', uid: 'u', resourceVersion, generation, labels },
  addressType: 'IPv4',
  endpoints: [],
});

it.each([
  ['nobody has changed', slice('2', 1), '1', false],
  ['we have written', slice('2', 2), '2', false],
  ['somebody has written since', slice('3', 2), '2', true],
  ['somebody has labelled', slice('3', 1, { a: 'b' }), '2', true],
])('knows of a slice that %s', (_, now, written, expected) => {
  const slices = new WrittenSlices();
  slices.note(slice(written, 1));
  expect(slices.isChangedByOthers(slice('1', 1), now)).toBe(expected);
  slices.forget(now);
  expect(slices.isChangedByOthers(slice('1', 1), slice('2', 2))).toBe(true);
});
