import { immutableMessage, invalid, semanticEqual } from '@tinkernetes/apimachinery';
import type { Errors } from './rules';

/** The value must be as before. */
export const immutable = (path: string, value: unknown, old: unknown): Errors =>
  semanticEqual(value, old) ? [] : [invalid(path, value ?? null, immutableMessage)];
