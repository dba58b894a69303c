import { isIPv4 } from 'node:net';

/** A range of IPv4 addresses in CIDR notation, ready to be compared. */
export interface Cidr {
  readonly base: number;
  readonly prefix: number;
  readonly mask: number;
}

/** The address as an unsigned number, or undefined when it is none. */
export function parseAddress(text: string): number | undefined {
  if (!isIPv4(text)) return undefined;
  return text.split('.').reduce((value, octet) => value * 256 + Number(octet), 0);
}

export function formatAddress(value: number): string {
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');
}

/** `10.244.1.0/24`, or a plain address (as /32). */
export function parseCidr(text: string): Cidr | undefined {
  const [address = '', length = '32'] = text.split('/');
  const value = parseAddress(address);
  const prefix = /^\d+$/.test(length) ? Number(length) : NaN;
  if (value === undefined || !(prefix >= 0 && prefix <= 32)) return undefined;
  const mask = prefix === 0 ? 0 : (0xffffffff << (32 - prefix)) >>> 0;
  return { base: (value & mask) >>> 0, prefix, mask };
}

export function contains(cidr: Cidr, address: number): boolean {
  return (address & cidr.mask) >>> 0 === cidr.base;
}

const loopback: Cidr = { base: 0x7f000000, prefix: 8, mask: 0xff000000 };
const privateRanges = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '169.254.0.0/16',
  '100.64.0.0/10',
].map((text) => parseCidr(text) as Cidr);

export const isLoopback = (address: number): boolean => contains(loopback, address);
export const isPrivate = (address: number): boolean =>
  privateRanges.some((range) => contains(range, address));

/** A locally administered MAC made from the address, as CNI's bridge plugin and Docker do. */
export function macOf(address: string): string {
  const octets = address.split('.').map((octet) => Number(octet).toString(16).padStart(2, '0'));
  return `0a:58:${octets.join(':')}`;
}
