import { BlockList, isIP } from 'node:net';
import type { HostAlias } from '../options';

/** Where an address is really dialled: emulated node addresses are on this host. Most specific alias wins by order. */
export function createHostAliases(aliases: readonly HostAlias[]): (address: string) => string {
  const rules = aliases.map(({ from, to }) => {
    const [network = '', prefix] = from.split('/');
    const list = new BlockList();
    const family = isIP(network) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(network, family);
    else list.addSubnet(network, Number(prefix), family);
    return { list, to };
  });
  return (address) => {
    const version = isIP(address);
    if (version === 0) return address;
    const family = version === 6 ? 'ipv6' : 'ipv4';
    return rules.find(({ list }) => list.check(address, family))?.to ?? address;
  };
}
