import type { AttachRequest, AttachResponse } from '@tinkernetes/vnet';
import { Bridge } from './bridge';
import { nodeInterface } from './interfaces';
import { macOf } from './ipv4';
import { NetNamespace, type NetInterface, type Uplink } from './net-namespace';

/** The namespaces of a node and the bridges that join them. */
export class Attachments {
  readonly bridges = new Map<string, Bridge>();
  private readonly namespaces = new Map<string, NetNamespace>();

  /** `host`: the node's own namespace; `uplink`: what all others hand their traffic to. */
  constructor(
    private readonly host: NetNamespace,
    private readonly uplink: Uplink,
  ) {}

  /** The namespace at a CNI_NETNS path; made when it does not exist. */
  namespace(path: string): NetNamespace {
    if (path === '') return this.host;
    let namespace = this.namespaces.get(path);
    if (!namespace) this.namespaces.set(path, (namespace = new NetNamespace(path, this.uplink)));
    return namespace;
  }

  /** The namespace that has an address; the node's own isn't among them. */
  withAddress(address: string): NetNamespace | undefined {
    return [...this.namespaces.values()].find((namespace) => namespace.addresses().includes(address));
  }

  interfaceNames(netns: string): readonly string[] {
    return [...(this.namespaces.get(netns)?.interfaces.keys() ?? [])];
  }

  removeNamespace(path: string): void {
    this.namespaces.delete(path);
  }

  /** Joins a namespace with a bridge; an interface of the same name is replaced. */
  plug(request: AttachRequest): AttachResponse {
    const { netns, ifname, addresses, gateway, bridge: name } = request;
    let bridge = this.bridges.get(name);
    if (!bridge) this.bridges.set(name, (bridge = new Bridge(name)));
    if (gateway && !bridge.address) {
      bridge.address = gateway;
      this.host.interfaces.set(name, { ...nodeInterface(gateway), name });
    }
    const namespace = this.namespace(netns);
    const existing = namespace.interfaces.get(ifname);
    if (existing) this.bridges.get(existing.bridge)?.unplug(existing.hostIfname);
    const address = addresses[0]?.split('/')[0] ?? '0.0.0.0';
    const mac = request.mac || macOf(address);
    const hostIfname = `veth${mac.replaceAll(':', '').slice(-8)}`;
    const container: NetInterface = {
      name: ifname,
      mac,
      addresses,
      bridge: name,
      hostIfname,
      hostMac: `fe${mac.slice(2)}`,
      received: { bytes: 0 },
      sent: { bytes: 0 },
    };
    namespace.interfaces.set(ifname, container);
    bridge.plug({ hostIfname, namespace, container });
    return { bridgeMac: bridge.mac, hostIfname, hostMac: container.hostMac, mac };
  }

  unplug(netns: string, ifname: string): void {
    const namespace = this.namespaces.get(netns);
    const container = namespace?.interfaces.get(ifname);
    if (container) this.bridges.get(container.bridge)?.unplug(container.hostIfname);
    namespace?.interfaces.delete(ifname);
  }
}
