/** `key`: on one line with its colon. */
export type ScalarContext = 'key' | 'value';
export type ScalarStyle = 'plain' | 'single' | 'double' | 'literal';

/** How go-yaml v2 writes a string. Source: go-yaml v2 encode.go stringv, emitterc.go yaml_emitter_select_scalar_style. */
export function scalarStyle(text: string, context: ScalarContext): ScalarStyle {
  const facts = analyze(text);
  if (text.includes('\n')) return facts.literal && context === 'value' ? 'literal' : 'double';
  if (!readsAsString(text)) return 'double';
  if (facts.plain) return 'plain';
  return facts.single ? 'single' : 'double';
}

const breaks = /[\n\r\x85\u2028\u2029]/;
/** What is escaped: control characters, and all beyond the basic plane. */
const unprintable = /[\0-\x09\x0b-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufeff\ufffe\uffff]/;

/** Whether a character may stand in a line as it is. */
export const canBePlain = (char: string): boolean => !unprintable.test(char) && !breaks.test(char);

/** Which styles a text can be written in. Source: go-yaml v2 emitterc.go yaml_emitter_analyze_scalar. */
function analyze(text: string): { plain: boolean; single: boolean; literal: boolean } {
  if (text === '') return { plain: true, single: true, literal: false };
  const isSpecial = unprintable.test(text) || / [\n\r\x85\u2028\u2029]/.test(text);
  const hasBreakSpace = /[\n\r\x85\u2028\u2029] /.test(text);
  const plain =
    !isSpecial &&
    !breaks.test(text) &&
    !/^ | $/.test(text) &&
    !startsAsIndicator(text) &&
    !holdsIndicator(text);
  return { plain, single: !isSpecial && !hasBreakSpace, literal: !isSpecial && !text.endsWith(' ') };
}

const startsAsIndicator = (text: string): boolean =>
  /^(?:---|\.\.\.)/.test(text) || /^[#,[\]{}&*!|>'"%@`]/.test(text) || /^[?:-](?:\s|$)/.test(text);

const holdsIndicator = (text: string): boolean => /:(?:\s|$)/.test(text) || /\s#/.test(text);

const words: ReadonlySet<string> = new Set([
  ...['', '~', 'null', 'Null', 'NULL'],
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'],
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'],
  ...['.nan', '.NaN', '.NAN', '.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF', '-.inf', '-.Inf', '-.INF'],
]);
const integer = /^[-+]?(?:0[bB][01]+|0[oO]?[0-7]*|0[xX][0-9a-fA-F]+|[1-9]\d*)$/;
const float = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/;
const base60 = /^[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?$/;
const timestamp =
  /^\d{4}-\d{1,2}-\d{1,2}(?:(?:[Tt]\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?(?:Z|[-+]\d\d:\d\d))|(?: \d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?))?$/;

/** Whether a text without quotes would be read as a string again. Source: go-yaml v2 resolve.go. */
function readsAsString(text: string): boolean {
  if (words.has(text)) return false;
  if (!/^[-+.\d]/.test(text)) return true;
  const digits = text.replaceAll('_', '');
  return !integer.test(digits) && !float.test(digits) && !base60.test(text) && !isTimestamp(text);
}

function isTimestamp(text: string): boolean {
  if (!timestamp.test(text)) return false;
  const [, month = 0, day = 0] = text.split(/[-Tt ]/).map(Number);
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}
