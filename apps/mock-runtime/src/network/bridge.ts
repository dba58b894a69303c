import { macOf } from './ipv4';
import type { NetInterface, NetNamespace } from './net-namespace';

/** One veth's host end, plugged into a bridge. */
export interface BridgePort {
  readonly hostIfname: string;
  readonly namespace: NetNamespace;
  readonly container: NetInterface;
}

/** A Linux bridge: which MAC is behind which port, and the neighbours' addresses (ARP). */
export class Bridge {
  /** CIDR notation; the gateway of the sandboxes when set. */
  address: string | undefined;
  readonly ports = new Map<string, BridgePort>();
  private readonly forwarding = new Map<string, string>();
  private readonly neighbours = new Map<string, string>();

  constructor(readonly name: string) {}

  get mac(): string {
    return macOf(this.address?.split('/')[0] ?? '0.0.0.0');
  }

  plug(port: BridgePort): void {
    this.ports.set(port.hostIfname, port);
    this.forwarding.set(port.container.mac, port.hostIfname);
    for (const address of port.container.addresses)
      this.neighbours.set(address.split('/')[0] ?? '', port.container.mac);
  }

  unplug(hostIfname: string): void {
    const port = this.ports.get(hostIfname);
    if (!port) return;
    this.ports.delete(hostIfname);
    this.forwarding.delete(port.container.mac);
    for (const address of port.container.addresses) this.neighbours.delete(address.split('/')[0] ?? '');
  }

  /** ARP, then the MAC table. */
  portOf(address: string): BridgePort | undefined {
    const mac = this.neighbours.get(address);
    const hostIfname = mac === undefined ? undefined : this.forwarding.get(mac);
    return hostIfname === undefined ? undefined : this.ports.get(hostIfname);
  }
}
