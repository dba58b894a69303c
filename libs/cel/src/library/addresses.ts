import { BlockList, isIP } from 'node:net';
import type { Environment } from '@marcbachmann/cel-js';

const ipType = 'kubernetes.IP';
const cidrType = 'kubernetes.CIDR';

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

class Ip {
  constructor(readonly text: string) {}
  /** The form that RFC 5952 wants. */
  get canonical(): string {
    return isIP(this.text) === 6 ? new URL(`http://[${this.text}]`).hostname.slice(1, -1) : this.text;
  }
  within(network: string, prefix: number): boolean {
    const list = new BlockList();
    list.addSubnet(network, prefix, familyOf(network));
    return list.check(this.text, familyOf(this.text));
  }
}

class Cidr {
  constructor(
    readonly address: string,
    readonly prefix: number,
  ) {}

  static tryParse(text: string): Cidr | undefined {
    const [address = '', prefix = '', ...rest] = text.split('/');
    const version = isIP(address);
    const bits = Number(prefix);
    const fits = /^\d{1,3}$/.test(prefix) && bits <= (version === 6 ? 128 : 32);
    return version !== 0 && rest.length === 0 && fits ? new Cidr(address, bits) : undefined;
  }

  /** The network's first address. */
  masked(): Cidr {
    const width = isIP(this.address) === 6 ? 128 : 32;
    const host = BigInt(width - this.prefix);
    const bits = (toBits(this.address) >> host) << host;
    return new Cidr(fromBits(bits, width), this.prefix);
  }
}

function toBits(address: string): bigint {
  if (isIP(address) === 4) return address.split('.').reduce((bits, part) => (bits << 8n) | BigInt(part), 0n);
  const [head = '', tail] = new Ip(address).canonical.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - left.length - right.length }, () => '0');
  return [...left, ...zeros, ...right].reduce((bits, part) => (bits << 16n) | BigInt(`0x${part}`), 0n);
}

function fromBits(bits: bigint, width: number): string {
  const size = width === 32 ? 8n : 16n;
  const parts: string[] = [];
  for (let shift = BigInt(width) - size; shift >= 0n; shift -= size) {
    const part = (bits >> shift) & ((1n << size) - 1n);
    parts.push(width === 32 ? part.toString() : part.toString(16));
  }
  return width === 32 ? parts.join('.') : new Ip(parts.join(':')).canonical;
}

function ip(text: string): Ip {
  if (isIP(text) === 0)
    throw new Error(
      `IP Address ${JSON.stringify(text)} parse error during conversion from string: ParseAddr(${JSON.stringify(text)}): unable to parse IP`,
    );
  if (text.includes('%'))
    throw new Error(`IP address with zone value ${JSON.stringify(text)} is not allowed`);
  if (isMapped(text)) throw new Error(`IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`);
  return new Ip(text);
}
const isMapped = (text: string): boolean => isIP(text) === 6 && /^::ffff:/.test(new Ip(text).canonical);
const isAddress = (text: string): boolean => isIP(text) !== 0 && !text.includes('%') && !isMapped(text);

function cidr(text: string): Cidr {
  const parsed = Cidr.tryParse(text);
  if (!parsed)
    throw new Error(`network address parse error during conversion from string: ${JSON.stringify(text)}`);
  return parsed;
}

const contains = (network: Cidr, address: Ip): boolean => address.within(network.address, network.prefix);

/** https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-ip-address-library and its CIDR library. */
export function registerAddresses(env: Environment): void {
  env.registerType(ipType, { ctor: Ip as unknown as new () => Ip, fields: {} });
  env.registerType(cidrType, { ctor: Cidr as unknown as new () => Cidr, fields: {} });
  env.registerFunction(`ip(string): ${ipType}`, ip);
  env.registerFunction('isIP(string): bool', isAddress);
  class IpNamespace {}
  env.registerType('kubernetes.IPNamespace', { ctor: IpNamespace, fields: {} });
  env.registerConstant('ip', 'kubernetes.IPNamespace', new IpNamespace());
  env.registerFunction(
    'kubernetes.IPNamespace.isCanonical(string): bool',
    (_: IpNamespace, text: string) => ip(text).canonical === text,
  );
  env.registerFunction(`string(${ipType}): string`, (address: Ip) => address.canonical);
  env.registerFunction(`${ipType}.family(): int`, (address: Ip) => BigInt(isIP(address.text)));
  env.registerFunction(
    `${ipType}.isUnspecified(): bool`,
    ({ canonical }: Ip) => canonical === '0.0.0.0' || canonical === '::',
  );
  env.registerFunction(
    `${ipType}.isLoopback(): bool`,
    (a: Ip) => a.within('127.0.0.0', 8) || a.within('::1', 128),
  );
  env.registerFunction(
    `${ipType}.isLinkLocalMulticast(): bool`,
    (a: Ip) => a.within('224.0.0.0', 24) || a.within('ff02::', 16),
  );
  env.registerFunction(`${ipType}.isLinkLocalUnicast(): bool`, (a: Ip) => isLinkLocal(a));
  env.registerFunction(
    `${ipType}.isGlobalUnicast(): bool`,
    (a: Ip) =>
      !['0.0.0.0', '::', '255.255.255.255'].includes(a.canonical) &&
      !(a.within('127.0.0.0', 8) || a.within('::1', 128)) &&
      !(a.within('224.0.0.0', 4) || a.within('ff00::', 8)) &&
      !isLinkLocal(a),
  );
  env.registerOperator(`${ipType} == ${ipType}`, (a: Ip, b: Ip) => a.canonical === b.canonical);
  env.registerOperator(
    `${cidrType} == ${cidrType}`,
    (a: Cidr, b: Cidr) =>
      a.prefix === b.prefix && new Ip(a.address).canonical === new Ip(b.address).canonical,
  );
  env.registerFunction(`cidr(string): ${cidrType}`, cidr);
  env.registerFunction('isCIDR(string): bool', (text: string) => Cidr.tryParse(text) !== undefined);
  env.registerFunction(
    `string(${cidrType}): string`,
    (network: Cidr) => `${network.address}/${network.prefix}`,
  );
  env.registerFunction(`${cidrType}.containsIP(string): bool`, (network: Cidr, text: string) =>
    contains(network, ip(text)),
  );
  env.registerFunction(`${cidrType}.containsIP(${ipType}): bool`, contains);
  const containsCidr = (outer: Cidr, inner: Cidr) =>
    inner.prefix >= outer.prefix && contains(outer, new Ip(inner.address));
  env.registerFunction(`${cidrType}.containsCIDR(string): bool`, (a: Cidr, b: string) =>
    containsCidr(a, cidr(b)),
  );
  env.registerFunction(`${cidrType}.containsCIDR(${cidrType}): bool`, containsCidr);
  env.registerFunction(`${cidrType}.ip(): ${ipType}`, (network: Cidr) => new Ip(network.address));
  env.registerFunction(`${cidrType}.masked(): ${cidrType}`, (network: Cidr) => network.masked());
  env.registerFunction(`${cidrType}.prefixLength(): int`, (network: Cidr) => BigInt(network.prefix));
}

const isLinkLocal = (a: Ip): boolean => a.within('169.254.0.0', 16) || a.within('fe80::', 10);
