import { isObject, type JsonObject } from '@tinkernetes/apimachinery';

/** What is longer is seldom the same twice. */
const longest = 64;
/** Those of one object only (names, addresses) fill it, too. */
const capacity = 8192;

/**
 * Gives for equal texts one and the same; forgets all of them when they are too many. Unlike `textPool` it does not note
 * which were used last: an informer asks a hundred times for each object.
 */
export function createTexts(): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    if (text.length > longest) return text;
    const same = known.get(text);
    if (same !== undefined) return same;
    if (known.size >= capacity) known.clear();
    known.set(text, text);
    return text;
  };
}

/**
 * Lets an object hold the same texts as others where they are equal: each answer brings strings of its own, a Pod a
 * hundred, and thousands of Pods have most of theirs in common. What the object shares with its `older` version has been
 * looked at before.
 */
export function shareTexts(object: object, texts: (text: string) => string, older?: object): void {
  if (Object.isFrozen(object)) return;
  const fields = object as JsonObject;
  const before = older as JsonObject | undefined;
  for (const [key, value] of Object.entries(fields)) {
    if (typeof value === 'string') fields[key] = texts(value);
    else if (typeof value === 'object' && value !== null && value !== before?.[key]) {
      const known = before?.[key];
      shareTexts(value, texts, isObject(known) ? known : undefined);
    }
  }
}
