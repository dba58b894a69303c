import { deepEqual, isObject, type JsonObject } from '@tinkernetes/apimachinery';

/**
 * Lets a newer version of an object hold the older one's parts where they are the same: most changes leave the spec and
 * the labels alone, and thousands of objects that change would otherwise leave as many copies to the garbage collector.
 * Members are compared, and those of members.
 */
export function shareUnchanged(older: object, newer: object): void {
  share(older as JsonObject, newer as JsonObject, { isNested: false });
}

function share(older: JsonObject, newer: JsonObject, { isNested }: { isNested: boolean }): void {
  for (const [key, value] of Object.entries(newer)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(older, key)) continue;
    const before = older[key];
    if (deepEqual(before, value)) newer[key] = before;
    else if (!isNested && isObject(before) && isObject(value)) share(before, value, { isNested: true });
  }
}
