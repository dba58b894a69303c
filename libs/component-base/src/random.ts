import { randomBytes, randomUUID } from 'node:crypto';

/** The only source of randomness (lint forbids `Math.random` elsewhere), so that runs can be repeated. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** RFC 4122 version 4, lower case: an object's `metadata.uid`. */
  uid(): string;
  /** `bytes` random bytes as lower-case hex. */
  hex(bytes: number): string;
}

/** Asking the system for a few bytes costs as much as asking for many. */
const poolSize = 4096;
let pool = Buffer.alloc(0);
let taken = 0;

function pooledHex(bytes: number): string {
  if (bytes > poolSize) return randomBytes(bytes).toString('hex');
  if (taken + bytes > pool.length) {
    pool = randomBytes(poolSize);
    taken = 0;
  }
  taken += bytes;
  return pool.toString('hex', taken - bytes, taken);
}

export const realRandom: Random = {
  next: () => Math.random(),
  uid: () => randomUUID(),
  hex: pooledHex,
};

/** No vowels and no 0, 1, 3: generated names spell no words (k8s.io/apimachinery/pkg/util/rand). */
const nameAlphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** Random lower-case suffix as the API server appends to `generateName`. */
export function nameSuffix(random: Random, length = 5): string {
  let out = '';
  for (let i = 0; i < length; i++) out += nameAlphabet[Math.floor(random.next() * nameAlphabet.length)];
  return out;
}

/** `base * [1, 1 + factor)`: spreads periodic work of many processes (client-go's `wait.Jitter`). */
export function jitter(random: Random, base: number, factor: number): number {
  return base + random.next() * factor * base;
}
