import { maxDepth } from './json-depth';
import { CarefulJsonReader } from './careful-json-reader';
import type { ParsedJson } from './parsed-json';
import { hasSurrogates } from './surrogates';

/**
 * Parses JSON. Compact text without duplicate keys, which is what clients send, takes only V8's own parser; anything
 * else is read by a parser that reports duplicates, merges them as Go's decoder does, and words errors as it does.
 */
export function parseJson(text: string): ParsedJson {
  const fast = isDeep(text) || hasSurrogates(text) ? undefined : fastParse(text);
  return fast ? { value: fast.value, duplicates: [] } : new CarefulJsonReader(text).document();
}

/** Whether the text's brackets go deeper than `maxDepth`; of what is no JSON it may say anything. */
function isDeep(text: string): boolean {
  if (text.length < 2 * maxDepth) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (code === openBracket || code === openBrace) {
      if (++depth > maxDepth) return true;
    } else if (code === closeBracket || code === closeBrace) depth--;
  }
  return false;
}

const [quote, backslash, openBracket, closeBracket, openBrace, closeBrace] = [34, 92, 91, 93, 123, 125];

/** Where the string that begins at `start` ends; the end of the text when it doesn't. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text.charCodeAt(at - 1 - escapes) === backslash) escapes++;
    if (escapes % 2 === 0) return at;
  }
  return text.length;
}

function fastParse(text: string): { value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value).length === text.length ? { value } : undefined;
  } catch (error) {
    // The careful parser finds the same fault and words it as Go does.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
