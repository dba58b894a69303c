import { macOf } from './ipv4';
import type { NetInterface, NetNamespace } from './net-namespace';

/** An interface of the node itself. */
export function nodeInterface(address: string): NetInterface {
  return {
    name: 'eth0',
    mac: macOf(address.split('/')[0] ?? address),
    addresses: [address],
    bridge: '',
    hostIfname: '',
    hostMac: '',
    received: { bytes: 0 },
    sent: { bytes: 0 },
  };
}

/** Where the bytes of a namespace's streams are counted. */
export function countersOf(namespace: NetNamespace) {
  const [first] = namespace.interfaces.values();
  return first && { up: first.received, down: first.sent };
}
