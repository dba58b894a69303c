import { grantedDurationMs, grantedUsages } from './granted';

it('grants the usages that are asked for, and no others', () => {
  expect(grantedUsages(['digital signature', 'client auth'])).toEqual({
    keyUsages: ['digitalSignature'],
    usages: ['clientAuth'],
  });
  expect(grantedUsages(['key encipherment', 'server auth', 'code signing', 'netscape sgc'])).toEqual({
    keyUsages: ['keyEncipherment'],
    usages: ['serverAuth', 'codeSigning'],
  });
});

const hourMs = 3600_000;
it.each([
  [undefined, hourMs],
  [1800, hourMs / 2],
  [7200, hourMs],
  // The API asks for at least ten minutes, too.
  [1, 600_000],
])('grants, of %p s where an hour is the limit, %d ms', (seconds, ms) => {
  expect(grantedDurationMs(seconds, hourMs)).toBe(ms);
});
