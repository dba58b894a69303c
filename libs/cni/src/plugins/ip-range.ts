import { isIPv4 } from 'node:net';

export interface Subnet {
  base: number;
  prefix: number;
}

export function parseIPv4(text: string | undefined): number | undefined {
  if (text === undefined || !isIPv4(text)) return undefined;
  return text.split('.').reduce((value, octet) => value * 256 + Number(octet), 0);
}

export function formatIPv4(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
}

export function parseRange(cidr: string): Subnet | undefined {
  const [address, length = ''] = cidr.split('/');
  const value = parseIPv4(address);
  const prefix = Number(length);
  if (value === undefined || !/^\d+$/.test(length) || prefix > 32) return undefined;
  const size = 2 ** (32 - prefix);
  return { base: Math.floor(value / size) * size, prefix };
}

/** Without the network's own address. */
export const firstAddress = ({ base }: Subnet): number => base + 1;
/** Without the broadcast address. */
export const lastAddress = ({ base, prefix }: Subnet): number => base + 2 ** (32 - prefix) - 2;
