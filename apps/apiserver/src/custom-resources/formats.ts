import { isIP } from 'node:net';
import {
  isBase64,
  isDate,
  isDateTime,
  isDns1123Label,
  isDns1123Subdomain,
  isUuid,
  requestUriProblem,
} from '@tinkernetes/apimachinery';

type Check = (value: string) => boolean;

const matches =
  (pattern: RegExp): Check =>
  (value) =>
    pattern.test(value);

const uuid = (rest: string): Check => matches(new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${rest}$`, 'i'));

/** Go's durations, and Scala's: numbers with a known unit somewhere in the text. */
function isDuration(value: string): boolean {
  if (/^[-+]?(0|((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$/.test(value)) return true;
  const unit = /^(ns|nano.*|us|µs|micro.*|ms|milli.*|s|sec.*|m|min.*|h|hr|hour.*|d|day.*|w|wk|week.*)$/;
  const found = [...value.matchAll(/\d+\s*([A-Za-zµ]+)/g)];
  return found.some(([, name = '']) => unit.test(name.toLowerCase()));
}

/** A zero before an address's number was once allowed. */
const withoutZeros = (address: string): string =>
  address.replace(/(^|[.:])0+(\d+)(?=\.|$)/g, (_, before: string, digits: string) => before + digits);

const isAddress: Check = (value) => !value.includes('%') && isIP(withoutZeros(value)) !== 0;

function isCidr(value: string): boolean {
  const [, address = '', bits = ''] = /^(.+)\/(\d{1,3})$/.exec(value) ?? [];
  const version = isIP(withoutZeros(address));
  return version !== 0 && Number(bits) <= (version === 4 && !address.includes(':') ? 32 : 128);
}

function isMac(value: string): boolean {
  const byPairs =
    /^[0-9a-f]{2}(?:([:-])[0-9a-f]{2}(?:\1[0-9a-f]{2}){4}(?:(?:\1[0-9a-f]{2}){2}|(?:\1[0-9a-f]{2}){14})?)$/i;
  const byFours = /^[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}(\.[0-9a-f]{4}|(\.[0-9a-f]{4}){7})?$/i;
  return byPairs.test(value) || byFours.test(value);
}

function isHostname(value: string): boolean {
  const pattern =
    /^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$/u;
  const isShort = (text: string, length: number) => Buffer.byteLength(text) <= length;
  return isShort(value, 255) && pattern.test(value) && value.split('.').every((part) => isShort(part, 63));
}

const digitsOf = (value: string): string => value.replace(/[\s-]+/g, '');

function isIsbn10(value: string): boolean {
  const digits = digitsOf(value);
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  const sum = [...digits].reduce(
    (total, digit, i) => total + (i + 1) * (digit === 'X' ? 10 : Number(digit)),
    0,
  );
  return sum % 11 === 0;
}

function isIsbn13(value: string): boolean {
  const digits = digitsOf(value);
  if (!/^\d{13}$/.test(digits)) return false;
  const sum = [...digits].reduce((total, digit, i) => total + Number(digit) * (i % 2 === 0 ? 1 : 3), 0);
  return sum % 10 === 0;
}

const cardNumber =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|(222[1-9]|22[3-9]\d|2[3-6]\d{2}|27[01]\d|2720)\d{12}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11}|6[27]\d{14})$/;

/** With Luhn's sum. */
function isCreditCard(value: string): boolean {
  const digits = value.replace(/\D+/g, '');
  if (!cardNumber.test(digits)) return false;
  const sum = [...digits].reverse().reduce((total, digit, i) => {
    const number = Number(digit) * (i % 2 === 0 ? 1 : 2);
    return total + (number > 9 ? number - 9 : number);
  }, 0);
  return sum % 10 === 0;
}

const rgb = String.raw`\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*`;

/** Formats of texts, without dashes in their names. Source: kube-openapi strfmt and asaskevich/govalidator. */
const checks: Readonly<Record<string, Check>> = {
  bsonobjectid: matches(/^[0-9a-f]{24}$/i),
  uri: (value) => requestUriProblem(value) === undefined,
  email: matches(/^(([^\s@<>()[\]\\,;:"]+@[^\s@<>()[\]\\,;:"]+)|("?[^"<>@]*"?\s*<[^\s@<>]+@[^\s@<>]+>))$/),
  hostname: isHostname,
  ipv4: (value) => isAddress(value) && value.includes('.'),
  ipv6: (value) => !value.includes('%') && isIP(value) === 6,
  cidr: isCidr,
  mac: isMac,
  uuid: isUuid,
  uuid3: uuid('3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}'),
  uuid4: uuid('4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}'),
  uuid5: uuid('5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}'),
  isbn: (value) => isIsbn10(value) || isIsbn13(value),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: matches(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/),
  hexcolor: matches(/^#?([0-9a-f]{3}|[0-9a-f]{6})$/i),
  rgbcolor: matches(new RegExp(`^rgb\\(${rgb},${rgb},${rgb}\\)$`)),
  byte: isBase64,
  password: () => true,
  date: isDate,
  datetime: isDateTime,
  duration: isDuration,
  k8sshortname: (value) => isDns1123Label(value).length === 0,
  k8slongname: (value) => isDns1123Subdomain(value).length === 0,
};

const plainName = (format: string): string => format.replaceAll('-', '');

const numberFormats: Readonly<Record<string, readonly string[]>> = {
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
};

/** Whether values of a type are checked for a format; others are only annotations. Source: apiextensions-apiserver/pkg/apiserver/validation/formats.go. */
export function isCheckedFormat(format: string, type: string | undefined): boolean {
  if (type === undefined || type === '' || type === 'string') return Object.hasOwn(checks, plainName(format));
  return numberFormats[type]?.includes(format) ?? false;
}

/** Whether the value breaks the format. */
export const formatError = (value: string, format: string): boolean => {
  const name = plainName(format);
  const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
  return check !== undefined && !check(value);
};
