import { LruMap } from './lru-map';

/** What is longer is seldom the same twice. */
export const longestShared = 256;

/**
 * Gives for equal texts one and the same, of which `capacity` are remembered: each message brings strings of its own,
 * and what is kept of thousands of them has most of its texts in common.
 */
export function textPool(capacity: number): (text: string) => string {
  const texts = new LruMap<string, string>(capacity);
  return (text) => (text.length > longestShared ? text : texts.getOrCreate(text, () => text));
}
