import { LruMap } from '@tinkernetes/component-base';
import { RE2JS, RE2JSSyntaxException } from 're2js';

const compiled = new LruMap<string, Pattern | string>(1000);

export interface Pattern {
  test(text: string): boolean;
}

function compile(source: string): Pattern | string {
  try {
    const pattern = RE2JS.compile(source);
    return { test: (text) => pattern.matcher(text).find() };
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) return error.message;
    throw error;
  }
}

const lookup = (source: string): Pattern | string => compiled.getOrCreate(source, () => compile(source));

/** A regular expression by Go's (RE2's) rules; undefined when it is none. */
export function patternOf(source: string): Pattern | undefined {
  const known = lookup(source);
  return typeof known === 'string' ? undefined : known;
}

/** Why the text is no regular expression, in Go's words; undefined when it is one. */
export function patternError(source: string): string | undefined {
  const known = lookup(source);
  return typeof known === 'string' ? known : undefined;
}
