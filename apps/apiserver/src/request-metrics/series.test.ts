import { counts, distributions } from './series';

describe('series of metrics', () => {
  it('are the same for the same labels and show what was counted', () => {
    const family = counts('requests_total', 'Requests.');
    family.with({ verb: 'GET' }).value += 1;
    family.with({ verb: 'GET' }).value += 1;
    family.with({ verb: 'a"b\\c\nd' }).value += 1;
    expect(family.expose()).toBe(
      [
        '# HELP requests_total Requests.',
        '# TYPE requests_total counter',
        'requests_total{verb="GET"} 2',
        'requests_total{verb="a\\"b\\\\c\\nd"} 1',
        '',
      ].join('\n'),
    );
  });

  it.each([
    [[], [0, 0, 0]],
    [[1], [1, 1, 1]],
    [[2], [0, 1, 1]],
    [
      [0.5, 2, 11],
      [1, 2, 3],
    ],
  ])('put %j into buckets that hold what is smaller', (values, [first, second, all]) => {
    const family = distributions('size', 'Sizes.', [1, 10]);
    const series = family.with({ verb: 'GET' });
    for (const value of values) series.observe(value);
    const sum = values.reduce((total, value) => total + value, 0);
    expect(family.expose().split('\n').slice(2)).toEqual([
      `size_bucket{verb="GET",le="1"} ${first}`,
      `size_bucket{verb="GET",le="10"} ${second}`,
      `size_bucket{verb="GET",le="+Inf"} ${all}`,
      `size_sum{verb="GET"} ${sum}`,
      `size_count{verb="GET"} ${all}`,
      '',
    ]);
  });
});
