import { byteText } from './bytes';

const simple: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
  e: '\x1b',
  '\\': '\\',
};

/** Backslash sequences of echo -e and printf. `stop`: a `\c` ends all output. */
export function unescape(text: string): { value: string; stop: boolean } {
  let stop = false;
  const end = text.search(/(?<!\\)(?:\\\\)*\\c/);
  const shown = end < 0 ? text : text.slice(0, text.indexOf('\\c', end));
  if (end >= 0) stop = true;
  const value = shown.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|0?([0-7]{1,3})|(.))/g,
    (whole, hex: string, octal: string, c: string) => {
      if (hex) return byteText(parseInt(hex, 16));
      if (octal) return byteText(parseInt(octal, 8) & 255);
      return simple[c] ?? whole;
    },
  );
  return { value, stop };
}
