import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Warnings } from './warnings';

describe('Warnings', () => {
  function written(...texts: string[]): string[] {
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    const warnings = new Warnings(response);
    for (const text of texts) warnings.add(text);
    const header = response.getHeader('Warning') ?? [];
    return [header].flat().map((value) => Buffer.from(String(value), 'latin1').toString('utf8'));
  }

  it.each<[string, string[], string[]]>([
    ['says each text once', ['a', 'b', 'a'], ['299 - "a"', '299 - "b"']],
    ['quotes', ['say "a\\b"'], ['299 - "say \\"a\\\\b\\""']],
    ['writes UTF-8', ['größe 世'], ['299 - "größe 世"']],
    ['leaves out what no header can carry', ['a\nb', '\ud800', ''], []],
  ])('%s', (_, texts, expected) => expect(written(...texts)).toEqual(expected));

  it('cuts each where there are very many, and drops what is too much even so', () => {
    const long = Array.from({ length: 40 }, (_, i) => `${i} ${'x'.repeat(500)}`);
    const shown = written(...long);
    expect(shown.length).toBeLessThan(long.length);
    expect(shown.every((text) => text.length <= 256 + '299 - ""'.length)).toBe(true);
  });
});
