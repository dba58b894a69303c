import { int64Problem, uint64Problem } from './go-integers';

describe('uint64Problem', () => {
  it.each([
    ['0', undefined],
    ['18446744073709551615', undefined],
    ['18446744073709551616', 'value out of range'],
    ['-1', 'invalid syntax'],
    ['+1', 'invalid syntax'],
    ['', 'invalid syntax'],
  ])('of %j: %s', (text, problem) => expect(uint64Problem(text)).toBe(problem));
});

describe('int64Problem', () => {
  it.each([
    ['+5', undefined],
    ['9223372036854775807', undefined],
    ['9223372036854775808', 'value out of range'],
    ['-9223372036854775808', undefined],
    ['-9223372036854775809', 'value out of range'],
    ['1.5', 'invalid syntax'],
  ])('of %j: %s', (text, problem) => expect(int64Problem(text)).toBe(problem));
});
