import { goDiff } from './go-diff';
import { goStruct } from './go-struct';

describe('goStruct', () => {
  it('shows every field under its Go name, set or not', () => {
    expect(
      JSON.stringify(goStruct({ matchFields: [], matchExpressions: [{ key: 'k' }] }, 'NodeSelectorTerm')),
    ).toBe('{"MatchExpressions":[{"Key":"k","Operator":"","Values":null}],"MatchFields":[]}');
  });

  it('leaves a type that it does not know as it is', () => {
    expect(goStruct({ a: 1 }, 'Unheard')).toEqual({ a: 1 });
  });
});

describe('goDiff', () => {
  const term = (...values: string[]) => ({ matchExpressions: [{ key: 'k', operator: 'In', values }] });

  it('has three lines around a change, and the numbers of the lines', () => {
    expect(goDiff(term('a', 'b'), term('a', 'c'), 'NodeSelectorTerm')).toBe(
      [
        '@@ -5,7 +5,7 @@',
        '    "Operator": "In",',
        '    "Values": [',
        '     "a",',
        '-    "b"',
        '+    "c"',
        '    ]',
        '   }',
        '  ],',
        '',
      ].join('\n'),
    );
  });

  it('is empty where nothing changed', () => {
    expect(goDiff(term('a'), term('a'), 'NodeSelectorTerm')).toBe('');
  });
});
