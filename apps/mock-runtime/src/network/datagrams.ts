import type { Logger } from '@tinkernetes/component-base';
import type { Conntrack } from './conntrack';
import type { FlowTracking } from './flow-tracking';
import type { FlowRequest, Forwarding, Path } from './forwarding';
import type { HostNetwork } from './host-network';
import type { NetNamespace, Packet } from './net-namespace';
import type { Overlay } from './overlay';

export interface DatagramParts {
  readonly forwarding: Forwarding;
  readonly tracking: FlowTracking;
  readonly conntrack: Conntrack;
  readonly hostNetwork: HostNetwork;
  readonly logger: Logger;
  /** Undefined until the network has been started. */
  overlay(): Overlay | undefined;
}

/** UDP: each datagram goes where its flow's first one went, there and back. */
export class Datagrams {
  constructor(private readonly parts: DatagramParts) {}

  /** A datagram from a local namespace, from another node (`from` undefined), or an answer from the machine's network. */
  forward(from: NetNamespace | undefined, packet: Packet): void {
    const { source, destination, data } = packet;
    const answered = this.parts.conntrack.findReply('UDP', source, destination);
    if (answered)
      return this.deliver(from, { source: answered.destination, destination: answered.source, data });
    const known = this.parts.conntrack.findOriginal('UDP', source, destination);
    if (known)
      return this.deliver(from, { source: known.replyDestination, destination: known.replySource, data });
    const flow: FlowRequest = { from, source: source.host, destination, protocol: 'UDP' };
    const path = this.parts.forwarding.decide(flow);
    this.parts.tracking.track(flow, source, path);
    this.transmit(path, {
      source: { host: path.source, port: source.port },
      destination: path.destination,
      data,
    });
  }

  /** After NAT was undone or repeated: only routing is left. */
  private deliver(from: NetNamespace | undefined, packet: Packet): void {
    const flow: FlowRequest = {
      from,
      source: packet.source.host,
      destination: packet.destination,
      protocol: 'UDP',
      isEstablished: true,
    };
    this.transmit(this.parts.forwarding.decide(flow), packet);
  }

  private transmit({ target }: Path, packet: Packet): void {
    switch (target.kind) {
      case 'namespace':
        this.receive(target.namespace, packet);
        return;
      case 'overlay':
        this.parts.overlay()?.send(target.endpoint, packet);
        return;
      case 'host':
        this.parts.hostNetwork.send(target.host, packet);
        return;
      case 'refused':
      case 'dropped':
      case 'unreachable':
        return;
    }
  }

  /** What fails in a receiver is its own: all other Pods of the node are in this process, too. */
  private receive(namespace: NetNamespace, packet: Packet): void {
    const { host, port } = packet.destination;
    try {
      namespace.receiverFor(host, port)?.(packet);
    } catch (error) {
      this.parts.logger.warn({ err: error, host, port }, 'a receiver of datagrams failed');
    }
  }
}
