import { latestMissed, parseSchedule } from './schedule';

const at = (text: string) => Date.parse(text);

it.each([
  ['*/5 * * * *', undefined, '2026-01-01T00:01:00Z', '2026-01-01T00:05:00Z'],
  ['@hourly', undefined, '2026-01-01T00:01:00Z', '2026-01-01T01:00:00Z'],
  ['@every 90s', undefined, '2026-01-01T00:00:00Z', '2026-01-01T00:01:30Z'],
  ['0 9 * * *', 'Europe/Berlin', '2026-07-01T00:00:00Z', '2026-07-01T07:00:00Z'],
  ['30 2 * * *', 'America/New_York', '2026-01-01T00:00:00Z', '2026-01-01T07:30:00Z'],
])('%s in %s fires after %s at %s', (expression, zone, after, next) => {
  expect(parseSchedule(expression, zone).next(at(after))).toBe(at(next));
});

it.each(['nonsense', '* * * *', '61 * * * *', '* * * * * *'])('refuses "%s"', (expression) => {
  expect(() => parseSchedule(expression, 'UTC')).toThrow();
});

it.each<[string, string, string, { latest: number | undefined; tooMany: boolean }]>([
  ['nothing', '2026-01-01T00:00:30Z', '2026-01-01T00:00:59Z', { latest: undefined, tooMany: false }],
  [
    'one',
    '2026-01-01T00:00:30Z',
    '2026-01-01T00:01:10Z',
    { latest: at('2026-01-01T00:01:00Z'), tooMany: false },
  ],
  [
    'the last of several',
    '2026-01-01T00:00:00Z',
    '2026-01-01T00:05:30Z',
    { latest: at('2026-01-01T00:05:00Z'), tooMany: false },
  ],
  [
    'the last of a year',
    '2025-01-01T00:00:00Z',
    '2026-01-01T00:00:30Z',
    { latest: at('2026-01-01T00:00:00Z'), tooMany: true },
  ],
])('finds %s due between %s and %s', (_, since, now, expected) => {
  expect(latestMissed(parseSchedule('* * * * *', 'UTC'), at(since), at(now))).toEqual(expected);
});
