import type { Container } from '@tinkernetes/api';

/**
 * Identifies the version of a container's definition that a running container was made from. Only what forces a
 * restart when it changes is part of it (since v1.31 name and image). 32-bit FNV-1a, in hex.
 */
export function containerHash({ name, image }: Pick<Container, 'name' | 'image'>): string {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(JSON.stringify({ image, name }))) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return hash.toString(16);
}
