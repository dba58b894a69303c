import type { CacheEntry } from '../../cacher/cache-entry';
import type { Converter } from './converter';

/**
 * Has entries of the watch cache converted before they are read: all at once, each once for all readers, and kept
 * beside the entry as the bytes of that version.
 */
export function createPrepare(
  convert: Converter,
  apiVersion: string,
): (entries: readonly CacheEntry[]) => Promise<void> {
  const encoding = `json:${apiVersion}`;
  const underWay = new WeakMap<CacheEntry, Promise<void>>();

  async function convertAll(entries: readonly CacheEntry[]): Promise<void> {
    const objects = await convert(
      entries.map(({ object }) => object),
      apiVersion,
    );
    entries.forEach((entry, i) => entry.remember(encoding, Buffer.from(JSON.stringify(objects[i]))));
  }

  return async (entries) => {
    const foreign = entries.filter((entry) => !entry.has(encoding) && entry.object.apiVersion !== apiVersion);
    const missing = foreign.filter((entry) => !underWay.has(entry));
    if (missing.length > 0) {
      const work = convertAll(missing);
      for (const entry of missing) underWay.set(entry, work);
      // What failed is tried again by the next reader.
      const forget = () => missing.forEach((entry) => underWay.delete(entry));
      work.then(forget, forget);
    }
    await Promise.all(new Set(foreign.map((entry) => underWay.get(entry))));
  };
}
