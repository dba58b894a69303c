/** The object with the given members added where it has none; itself when nothing is missing. */
export function fill<T extends object>(object: T, defaults: Partial<T>): T {
  const missing = (Object.keys(defaults) as Array<keyof T>).filter(
    (key) => (object[key] ?? undefined) === undefined && defaults[key] !== undefined,
  );
  if (missing.length === 0) return object;
  const filled: Partial<T> = { ...object };
  for (const key of missing) filled[key] = defaults[key];
  return filled as T;
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
  const changed = list.map(change);
  return changed.every((element, i) => Object.is(element, list[i])) ? list : changed;
}
