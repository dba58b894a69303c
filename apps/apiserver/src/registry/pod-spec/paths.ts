import { invalid } from '@tinkernetes/apimachinery';
import type { Errors } from '../rules';

/** Relative, and never upwards. */
export function localDescendingPath(path: string, value: string): Errors {
  const absolute = value.startsWith('/') ? [invalid(path, value, 'must be a relative path')] : [];
  return [...absolute, ...noBacksteps(path, value)];
}

export function noBacksteps(path: string, value: string): Errors {
  return value.split('/').includes('..') ? [invalid(path, value, "must not contain '..'")] : [];
}

/** As `localDescendingPath`, and no name that the kubelet keeps for itself (`..data`). */
export function localNonReservedPath(path: string, value: string): Errors {
  const errors = localDescendingPath(path, value);
  const isReserved = value.startsWith('..') && !value.startsWith('../');
  return isReserved ? [...errors, invalid(path, value, "must not start with '..'")] : errors;
}
