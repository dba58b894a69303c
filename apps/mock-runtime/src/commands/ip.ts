import type { Process } from '../kernel/process';

/** `ip addr`, `ip route`, `ip link`. */
export async function ip(process: Process): Promise<number> {
  const [, what = 'addr'] = process.argv
    .map((arg) => (/^-/.test(arg) ? '' : arg))
    .filter((arg) => arg !== '');
  const interfaces = [...process.net.interfaces.values()];
  if (/^r/.test(what)) {
    for (const { name, addresses } of interfaces) {
      const gateway = (addresses[0] ?? '').replace(/\.\d+\/\d+$/, '.1');
      await process.print(`default via ${gateway} dev ${name} \n`);
    }
    return 0;
  }
  await process.print(
    '1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue qlen 1000\n    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00\n    inet 127.0.0.1/8 scope host lo\n',
  );
  for (const [index, { name, mac, addresses }] of interfaces.entries()) {
    const inet = /^l/.test(what)
      ? ''
      : addresses.map((address) => `    inet ${address} scope global ${name}\n`).join('');
    await process.print(
      `${index + 2}: ${name}: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue \n    link/ether ${mac} brd ff:ff:ff:ff:ff:ff\n${inet}`,
    );
  }
  return 0;
}

export async function ifconfig(process: Process): Promise<number> {
  for (const { name, mac, addresses, received, sent } of process.net.interfaces.values())
    await process.print(
      `${name.padEnd(10)}Link encap:Ethernet  HWaddr ${mac.toUpperCase()}\n          inet addr:${addresses[0]?.split('/')[0]}\n          RX bytes:${received.bytes}  TX bytes:${sent.bytes}\n\n`,
    );
  return 0;
}
