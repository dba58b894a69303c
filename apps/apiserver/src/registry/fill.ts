/** The object with the given members added where it has none; itself when nothing is missing. */
export function fill<T extends object>(object: T, defaults: Partial<T>): T {
  let filled: T | undefined;
  for (const key in defaults) {
    // Pointers that are always written are null when nothing was given.
    if ((object[key] ?? undefined) !== undefined || defaults[key] === undefined) continue;
    filled ??= { ...object };
    filled[key] = defaults[key] as T[typeof key];
  }
  return filled ?? object;
}

/** The object with one member mapped, if it is there. */
export function mapMember<T extends object, K extends keyof T>(
  object: T,
  key: K,
  change: (value: NonNullable<T[K]>) => T[K],
): T {
  const value = object[key];
  if (value === undefined || value === null) return object;
  const changed = change(value);
  return Object.is(changed, value) ? object : { ...object, [key]: changed };
}

/** A list mapped element by element; the same list when no element changed. */
export function mapList<T>(list: T[], change: (element: T) => T): T[] {
  let isSame = true;
  const changed = list.map((element) => {
    const mapped = change(element);
    if (!Object.is(mapped, element)) isSame = false;
    return mapped;
  });
  return isSame ? list : changed;
}
