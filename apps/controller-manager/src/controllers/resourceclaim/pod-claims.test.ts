import { generatedNameBase } from './pod-claims';

it.each([
  ['web', 'gpu', 'web-gpu-'],
  ['p'.repeat(60), 'gpu', `${'p'.repeat(52)}-gp`],
  ['p'.repeat(100), 'c'.repeat(60), `${'p'.repeat(35)}-${'c'.repeat(21)}`],
])('names the claims of Pod %s by entry %s, with room for what is generated', (pod, entry, expected) => {
  expect(generatedNameBase(pod, entry)).toBe(expected);
});
