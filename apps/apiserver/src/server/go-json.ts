import type { IncomingMessage } from 'node:http';

const escapes: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/** JSON text as Go's encoding/json writes it: safe to stand in HTML. */
export const escapedForHtml = (json: string): string =>
  json.replace(/[<>&\u2028\u2029]/g, (character) => escapes[character] ?? character);

/** A value as Go's encoding/json writes it. */
export const goJson = (value: unknown, indent?: number): string =>
  escapedForHtml(JSON.stringify(value, null, indent));

const browsers = ['curl', 'Wget', 'Mozilla/5.0'];
const trueTexts: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);

/**
 * Whether a person reads the answer: who says `pretty`, or uses a browser or a tool of the command line. Source:
 * k8s.io/apiserver/pkg/endpoints/handlers/negotiation.isPrettyPrint.
 */
export function wantsPretty({ url = '', headers }: Pick<IncomingMessage, 'url' | 'headers'>): boolean {
  if (url.includes('pretty')) {
    const given = new URLSearchParams(url.slice(url.indexOf('?') + 1)).get('pretty');
    if (given) return trueTexts.has(given);
  }
  const agent = headers['user-agent'];
  return agent !== undefined && browsers.some((browser) => agent.startsWith(browser));
}

/** Strings whole, brackets that belong together and hold nothing, or one sign of structure. */
const tokens = /"(?:[^"\\]|\\.)*"|\{\}|\[\]|[{}[\],:]/g;

/**
 * JSON text without spaces, indented as Go's json.MarshalIndent does; numbers stay as they are written. `depth`: in how
 * many brackets the text stands.
 */
export function indentedJson(json: string, depth = 0): string {
  const line = (by: number): string => `\n${'  '.repeat((depth += by))}`;
  return escapedForHtml(json.trimEnd()).replace(tokens, (token) => {
    switch (token) {
      case '{':
      case '[':
        return token + line(1);
      case '}':
      case ']':
        return line(-1) + token;
      case ',':
        return token + line(0);
      case ':':
        return ': ';
      default:
        return token;
    }
  });
}
