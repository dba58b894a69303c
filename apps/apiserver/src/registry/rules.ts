import {
  child,
  index,
  invalid,
  isDns1123Subdomain,
  isPortName,
  isPortNumber,
  notSupported,
  required,
  notNegativeMessage,
} from '@tinkernetes/apimachinery';
import type { FieldError } from '@tinkernetes/apimachinery';
import type { NameCheck } from '@tinkernetes/apimachinery';

/** Rules that validations of many kinds put together. */
export type Errors = FieldError[];

export const check = (path: string, value: string, rule: NameCheck): Errors =>
  rule(value).map((text) => invalid(path, value, text));

/** The value must be there and pass the rule. */
export const requireName = (path: string, value: string | undefined, rule: NameCheck): Errors =>
  value ? check(path, value, rule) : [required(path)];

export const requireValue = (path: string, value: unknown): Errors =>
  value === undefined || value === null || value === '' ? [required(path)] : [];

export const notNegative = (path: string, value: number | undefined): Errors =>
  value !== undefined && value < 0 ? [invalid(path, value, notNegativeMessage)] : [];

/** One of the supported values; missing is `Required value`. */
export function requireOneOf(path: string, value: string | undefined, supported: readonly string[]): Errors {
  if (!value) return [required(path)];
  return supported.includes(value) ? [] : [notSupported(path, value, supported)];
}

export const oneOf = (path: string, value: string | undefined, supported: readonly string[]): Errors =>
  value === undefined || supported.includes(value) ? [] : [notSupported(path, value, supported)];

export const eachOf = <T>(
  path: string,
  list: readonly T[] | undefined,
  rule: (element: T, path: string, i: number) => Errors,
): Errors => (list ?? []).flatMap((element, i) => rule(element, index(path, i), i));

/** Runs the rule on a part if it is there. */
export const within = <T>(
  path: string,
  name: string,
  part: T | undefined | null,
  rule: (part: T, path: string) => Errors,
): Errors => (part === undefined || part === null ? [] : rule(part, child(path, name)));

export const portNumber = (path: string, port: number): Errors =>
  isPortNumber(port).map((text) => invalid(path, port, text));

export const portNumberOrName = (path: string, port: number | string | undefined): Errors =>
  typeof port === 'string' ? check(path, port, isPortName) : portNumber(path, port ?? 0);

/** `example.com/controller`. Source: apimachinery/util/validation.IsDomainPrefixedPath. */
export function validateDomainPrefixedPath(path: string, value: string): Errors {
  if (value === '') return [required(path)];
  const slash = value.indexOf('/');
  const [host, rest] = [value.slice(0, Math.max(slash, 0)), value.slice(slash + 1)];
  if (host === '' || rest === '')
    return [invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  const isPath = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(rest);
  const detail = `Invalid path (e.g. 'my-path',  or '/my/path',  or 'my%20path', regex used for validation is '${httpPath}')`;
  return [...check(path, host, isDns1123Subdomain), ...(isPath ? [] : [invalid(path, rest, detail)])];
}

const httpPath = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
