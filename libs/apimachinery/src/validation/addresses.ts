import { isIP, isIPv4, isIPv6 } from 'node:net';

const ipMessage = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const cidrMessage = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

const leadingZerosMessage = 'must not have leading 0s';

/** What is wrong with an IP address, in upstream's words. */
export function isValidIp(value: string): readonly string[] {
  if (value.includes('%')) return [ipMessage];
  if (isIP(value) === 0) return isIPv4(withoutLeadingZeros(value)) ? [leadingZerosMessage] : [ipMessage];
  return isMappedToIpv6(value) ? ['must not be an IPv4-mapped IPv6 address'] : [];
}

/** `010.0.0.1` as old parsers read it: in decimal. */
const withoutLeadingZeros = (value: string): string => value.replace(/(^|\.)0+(?=\d)/g, '$1');

function isMappedToIpv6(value: string): boolean {
  const number = isIPv6(value) ? ipToBigInt(value) : undefined;
  return number !== undefined && number >> 32n === 0xffffn;
}

interface Cidr {
  address: string;
  bits: number;
  family: 'IPv4' | 'IPv6';
}

export function parseCidr(value: string): Cidr | undefined {
  const match = /^([^/]+)\/(0|[1-9][0-9]{0,2})$/.exec(value);
  if (!match) return undefined;
  const [, address = '', digits = ''] = match;
  const bits = Number(digits);
  if (isIPv4(address)) return bits <= 32 ? { address, bits, family: 'IPv4' } : undefined;
  if (isIPv6(address)) return bits <= 128 ? { address, bits, family: 'IPv6' } : undefined;
  return undefined;
}

/** What is wrong with a CIDR, in upstream's words. */
export function isValidCidr(value: string): readonly string[] {
  const cidr = parseCidr(value);
  if (cidr) {
    if (isMappedToIpv6(cidr.address)) return ['must not have an IPv4-mapped IPv6 address'];
    return hasHostBits(cidr) ? ['must not have bits set beyond the prefix length'] : [];
  }
  return parseSloppyCidr(value) ? ['must not have leading 0s in IP or prefix length'] : [cidrMessage];
}

/** As old parsers read a CIDR: with leading zeros. */
export const parseSloppyCidr = (value: string): Cidr | undefined =>
  parseCidr(withoutLeadingZeros(value).replace(/\/0+(?=\d)/, '/'));

/** As old parsers read an address. */
export const sloppyFamilyOf = (address: string): 'IPv4' | 'IPv6' | undefined =>
  familyOf(withoutLeadingZeros(address));

function hasHostBits({ address, bits, family }: Cidr): boolean {
  const width = family === 'IPv4' ? 32 : 128;
  const hostMask = (1n << BigInt(width - bits)) - 1n;
  return ((ipToBigInt(address) ?? 0n) & hostMask) !== 0n;
}

/** The canonical spelling of a CIDR. */
export function canonicalCidr(value: string): string {
  const cidr = parseCidr(value);
  return cidr ? `${canonicalIp(cidr.address)}/${cidr.bits}` : value;
}

/** New kinds take addresses in their canonical spelling alone. */
export function isCanonicalIp(value: string): readonly string[] {
  const problems = isValidIp(value);
  if (problems.length > 0 || canonicalIp(value) === value) return problems;
  return [`must be in canonical form (${JSON.stringify(canonicalIp(value))})`];
}

export function isCanonicalCidr(value: string): readonly string[] {
  const problems = isValidCidr(value);
  if (problems.length > 0 || canonicalCidr(value) === value) return problems;
  return [`must be in canonical form (${JSON.stringify(canonicalCidr(value))})`];
}

/** Of older kinds' addresses that are not spelt as they should be. Source: GetWarningsForIP. */
export function warningsForIp(path: string, value: string): string[] {
  const quoted = JSON.stringify(value);
  if (isValidIp(value).length > 0) {
    const meant = isIPv6(value) ? mappedIpv4(value) : withoutLeadingZeros(value);
    if (!isIPv4(meant)) return [];
    return [`${path}: non-standard IP address ${quoted} is invalid: use ${JSON.stringify(meant)}`];
  }
  const canonical = canonicalIp(value);
  if (canonical === value) return [];
  const form = `RFC 5952 canonical format (${JSON.stringify(canonical)})`;
  return [`${path}: IPv6 address ${quoted} should be in ${form}`];
}

/** Source: GetWarningsForCIDR. */
export function warningsForCidr(path: string, value: string): string[] {
  if (isValidCidr(value).length > 0 || canonicalCidr(value) === value) return [];
  const form = `RFC 5952 canonical format (${JSON.stringify(canonicalCidr(value))})`;
  return [`${path}: IPv6 CIDR value ${JSON.stringify(value)} should be in ${form}`];
}

const mappedIpv4 = (value: string): string => {
  const number = (ipToBigInt(value) ?? 0n) & 0xffffffffn;
  return [24n, 16n, 8n, 0n].map((shift) => (number >> shift) & 255n).join('.');
};

export const familyOf = (address: string): 'IPv4' | 'IPv6' | undefined =>
  isIPv4(address) ? 'IPv4' : isIPv6(address) ? 'IPv6' : undefined;

/** An address as a number, for ranges and masks; undefined for no address. */
export function ipToBigInt(address: string): bigint | undefined {
  if (isIPv4(address)) return address.split('.').reduce((sum, octet) => sum * 256n + BigInt(octet), 0n);
  if (!isIPv6(address)) return undefined;
  return expandIpv6(address).reduce((sum, group) => sum * 65536n + BigInt(group), 0n);
}

function expandIpv6(address: string): number[] {
  const embedded = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const text = embedded
    ? `${embedded[1]}${hexPair(embedded[2], embedded[3])}:${hexPair(embedded[4], embedded[5])}`
    : address;
  const [head = '', tail] = text.split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':').map((group) => parseInt(group, 16)));
  if (tail === undefined) return groups(head);
  const before = groups(head);
  const after = groups(tail);
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}
const hexPair = (high = '0', low = '0'): string => (Number(high) * 256 + Number(low)).toString(16);

/** The canonical spelling of an address (RFC 5952 for IPv6). */
export function canonicalIp(address: string): string {
  if (!isIPv6(address)) return address;
  const groups = expandIpv6(address);
  let best = { start: -1, length: 1 };
  for (let start = 0; start < 8; start += 1) {
    let length = 0;
    while (start + length < 8 && groups[start + length] === 0) length += 1;
    if (length > best.length) best = { start, length };
  }
  const hex = groups.map((group) => group.toString(16));
  if (best.start < 0) return hex.join(':');
  return `${hex.slice(0, best.start).join(':')}::${hex.slice(best.start + best.length).join(':')}`;
}

/** Whether an address lies in a CIDR block of its family. */
export function cidrContains(cidr: string, address: string): boolean {
  const block = parseCidr(cidr);
  if (!block || block.family !== familyOf(address)) return false;
  const shift = BigInt((block.family === 'IPv4' ? 32 : 128) - block.bits);
  const network = ipToBigInt(block.address);
  const ip = ipToBigInt(address);
  return network !== undefined && ip !== undefined && network >> shift === ip >> shift;
}
