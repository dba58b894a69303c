import { networkInterfaces } from 'node:os';
import { UsageError } from '@tinkernetes/component-base';
import { contains, isLoopback, isPrivate, parseAddress, parseCidr, type Cidr } from './ipv4';

interface Alias {
  cidr: Cidr;
  /** undefined: addresses of the range are dialled as they are. */
  target: string | undefined;
}

/**
 * How addresses outside the emulated network are reached from it: by an alias (`172.30.0.0/16=127.0.0.1`; a range
 * alone, `172.18.0.0/16`, stands for itself), as an address of this machine, or as a public one. Private addresses that are neither have no route: an emulated cluster
 * must not send its cluster IPs into somebody's real network.
 */
export class HostAliases {
  private readonly aliases: readonly Alias[];

  constructor(specs: readonly string[]) {
    this.aliases = specs.map((spec) => {
      const [range = '', target] = spec.split('=');
      const cidr = parseCidr(range);
      if (!cidr || target === '')
        throw new UsageError(
          `invalid value "${spec}" for --host-alias: must look like 172.30.0.0/16=127.0.0.1 or 172.18.0.0/16`,
        );
      return { cidr, target };
    });
  }

  isAlias(address: number): boolean {
    return this.aliases.some(({ cidr }) => contains(cidr, address));
  }

  /** The real address to dial, or undefined when there is no route. */
  resolve(host: string): string | undefined {
    const address = parseAddress(host);
    if (address === undefined || isLoopback(address)) return undefined;
    const alias = this.aliases.find(({ cidr }) => contains(cidr, address));
    if (alias) return alias.target ?? host;
    return !isPrivate(address) || isOfThisMachine(host) ? host : undefined;
  }
}

function isOfThisMachine(host: string): boolean {
  return Object.values(networkInterfaces()).some((addresses) => addresses?.some((a) => a.address === host));
}
