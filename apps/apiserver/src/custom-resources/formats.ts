import { isIP, isIPv4, isIPv6 } from 'node:net';
import { isDns1123Label, parseCidr } from '@tinkernetes/apimachinery';

const matches =
  (pattern: RegExp) =>
  (value: string): boolean =>
    pattern.test(value);

const isBase64 = (value: string): boolean => value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value);

const isUri = (value: string): boolean => URL.canParse(value) || value.startsWith('/');

const uuid = (version: string) =>
  matches(new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$`, 'i'));

const isDate = (value: string): boolean => {
  if (!/^\d{4}-\d\d-\d\d$/.test(value)) return false;
  const time = Date.parse(`${value}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value);
};

/** Formats that are checked; others are only annotations. Source: apiextensions-apiserver/pkg/apiserver/validation/formats.go. */
const checks: Readonly<Record<string, (value: string) => boolean>> = {
  bsonobjectid: matches(/^[0-9a-f]{24}$/i),
  uri: isUri,
  email: matches(/^[^\s@<>]+@[^\s@<>]+$/),
  hostname: matches(/^(?=.{1,255}$)[A-Za-z0-9]([A-Za-z0-9-]{0,62})(\.[A-Za-z0-9][A-Za-z0-9-]{0,62})*\.?$/),
  ipv4: isIPv4,
  ipv6: isIPv6,
  ip: (value) => isIP(value) !== 0,
  cidr: (value) => parseCidr(value) !== undefined,
  mac: matches(/^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i),
  uuid: uuid('[0-9a-f]'),
  uuid3: uuid('3'),
  uuid4: uuid('4'),
  uuid5: uuid('5'),
  isbn: matches(/^(97[89][- ]?)?(\d[- ]?){9}[\dX]$/),
  creditcard: matches(/^\d{13,19}$/),
  ssn: matches(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/),
  hexcolor: matches(/^#?([0-9a-f]{3}|[0-9a-f]{6})$/i),
  rgbcolor: matches(/^rgb\(\s*\d{1,3}\s*,\s*\d{1,3}\s*,\s*\d{1,3}\s*\)$/),
  byte: isBase64,
  date: isDate,
  'date-time': (value) =>
    /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(value) &&
    !Number.isNaN(Date.parse(value)),
  datetime: (value) => !Number.isNaN(Date.parse(value)) && /^\d{4}-\d\d-\d\d[Tt ]/.test(value),
  duration: matches(/^(\d+(\.\d+)?\s*(ns|us|µs|ms|s|m|h|d|w|[a-z]+)\s*)+$/i),
  'k8s-short-name': (value) => isDns1123Label(value).length === 0,
};

/** Whether the value breaks the format. */
export const formatError = (value: string, format: string): boolean => {
  const check = Object.hasOwn(checks, format) ? checks[format] : undefined;
  return check !== undefined && !check(value);
};
