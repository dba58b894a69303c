import { LruMap } from './lru-map';

/**
 * Gives for equal texts one and the same, of which `capacity` are remembered: each message brings strings of its own,
 * and what is kept of thousands of them has most of its texts in common.
 */
export function textPool(capacity: number): (text: string) => string {
  const texts = new LruMap<string, string>(capacity);
  return (text) => texts.getOrCreate(text, () => text);
}
