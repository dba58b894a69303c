import fc from 'fast-check';
import { LineSplitter } from './line-splitter';

describe('LineSplitter', () => {
  it('gives the same lines however the bytes are cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme' }).map((s) => s.replaceAll('\n', ''))),
        fc.array(fc.nat(20)),
        (lines, cuts) => {
          const bytes = Buffer.from(lines.map((l) => `${l}\n`).join(''), 'utf8');
          const splitter = new LineSplitter();
          const seen: string[] = [];
          let start = 0;
          for (const cut of [...cuts, bytes.length]) {
            seen.push(...splitter.push(bytes.subarray(start, start + cut)));
            start = Math.min(bytes.length, start + cut);
          }
          expect(seen).toEqual(lines.filter((l) => l !== ''));
          expect(splitter.end()).toBe('');
        },
      ),
    );
  });

  it('keeps what follows the last line feed', () => {
    const splitter = new LineSplitter();
    expect([...splitter.push(Buffer.from('a\nb'))]).toEqual(['a']);
    expect(splitter.end()).toBe('b');
  });
});
