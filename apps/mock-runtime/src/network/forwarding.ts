import type { Address, Hop, Protocol, Rule } from '@tinkernetes/vnet';
import type { Bridge } from './bridge';
import type { HostAliases } from './host-aliases';
import { contains, isLoopback, parseAddress, parseCidr } from './ipv4';
import type { NatTable } from './nat-table';
import type { NetNamespace } from './net-namespace';
import type { PolicyTable } from './policy-table';
import type { RouteTable } from './route-table';

/** Where a flow ends on this node. */
export type Target =
  | { kind: 'namespace'; namespace: NetNamespace }
  | { kind: 'overlay'; endpoint: Address }
  | { kind: 'host'; host: string }
  | { kind: 'refused' | 'dropped' | 'unreachable' };

export interface Path {
  target: Target;
  /** After masquerading. */
  source: string;
  /** After DNAT. */
  destination: Address;
  /** The NAT rule that applied. */
  rule?: Rule;
}

export interface FlowRequest {
  /** Undefined for a flow that arrived from another node. */
  from: NetNamespace | undefined;
  source: string;
  destination: Address;
  protocol: Protocol;
  /** Part of a flow that was let through before. */
  isEstablished?: boolean;
}

export interface ForwardingTables {
  nodeName: string;
  host: NetNamespace;
  bridges: ReadonlyMap<string, Bridge>;
  nat: NatTable;
  routes: RouteTable;
  policies: PolicyTable;
  aliases: HostAliases;
}

type Note = (where: string, decision: () => string) => void;

/**
 * Decides what happens to a new flow, as Linux does: local delivery, NAT, then routing. The same code serves
 * connections, datagrams and traces, so that a trace can't differ from what happens.
 */
export class Forwarding {
  constructor(private readonly tables: ForwardingTables) {}

  /** `hops` is filled when given. */
  decide(flow: FlowRequest, hops?: Hop[]): Path {
    const note: Note = (where, decision) =>
      hops?.push({ node: this.tables.nodeName, where, decision: decision() });
    const { from, source, destination, protocol } = flow;
    const { host, nat } = this.tables;
    const address = parseAddress(destination.host);
    if (address === undefined) return { target: { kind: 'unreachable' }, source, destination };
    if (from && from !== host && from.owns(destination.host)) {
      note('local', () => `${destination.host} is the namespace's own address`);
      return { target: { kind: 'namespace', namespace: from }, source, destination };
    }
    if (from && from !== host)
      note('netns', () => `${source} leaves by ${firstInterface(from)} and its veth to the bridge`);
    const toNode = host.owns(destination.host);
    const verdict = nat.translate(
      { protocol, source, destination: destination.host, port: destination.port },
      toNode,
    );
    switch (verdict?.action) {
      case undefined:
        note('nat', () => `no rule for ${protocol} ${text(destination)}`);
        return this.permitted(flow, { ...this.route(flow, destination, note), destination }, note);
      case 'DNAT': {
        const { rule, endpoint, affinity } = verdict;
        const next = { host: endpoint.address, port: endpoint.port };
        note(
          'nat',
          () =>
            `${rule.name}: ${text(destination)} becomes ${text(next)}, ${
              affinity ? 'kept by session affinity' : `one of ${rule.endpoints?.length ?? 0} at random`
            }`,
        );
        const path = this.route(flow, next, note);
        const masquerade = rule.masquerade === true || endpoint.address === source || isLocalSource(source);
        if (masquerade && path.source === source) {
          path.source = this.nodeAddress();
          note('nat', () => `source ${source} becomes ${path.source} (masquerade)`);
        }
        return this.permitted(flow, { ...path, destination: next, rule }, note);
      }
      case 'REDIRECT': {
        const next = { host: this.nodeAddress(), port: verdict.port };
        note('nat', () => `${verdict.rule.name}: redirected to the node's port ${verdict.port}`);
        return {
          target: { kind: 'namespace', namespace: host },
          source,
          destination: next,
          rule: verdict.rule,
        };
      }
      case 'REJECT':
        note('refused', () => `${verdict.rule.name} has no endpoints`);
        return { target: { kind: 'refused' }, source, destination, rule: verdict.rule };
      case 'DROP':
        note('dropped', () => `${verdict.rule.name} has no endpoints on this node`);
        return { target: { kind: 'dropped' }, source, destination, rule: verdict.rule };
    }
  }

  /**
   * The path, unless a network policy of the sending or the receiving Pod stops it. A Pod always reaches itself, also by a
   * Service, and its own node, and the node reaches it, as kubelets have to: whatever the policies say.
   */
  private permitted({ from, source, protocol, isEstablished }: FlowRequest, path: Path, note: Note): Path {
    const { host, policies } = this.tables;
    if (policies.isEmpty || isEstablished) return path;
    const { target, destination } = path;
    const receiver = target.kind === 'namespace' ? target.namespace : undefined;
    const isFromNode = from === host || host.owns(source);
    if (receiver === host || (receiver && (receiver === from || isFromNode))) return path;
    const flow = { protocol, source, destination };
    const isFromPod = from !== undefined && from !== host;
    const refusal =
      (isFromPod ? policies.refusal('EGRESS', source, flow) : undefined) ??
      (receiver ? policies.refusal('INGRESS', destination.host, flow) : undefined);
    if (refusal === undefined) return path;
    note('policy', () => `dropped: no rule allows it, ${refusal}`);
    return { ...path, target: { kind: 'dropped' } };
  }

  nodeAddress(): string {
    return this.tables.host.primaryAddress();
  }

  private route(flow: FlowRequest, to: Address, note: Note): { target: Target; source: string } {
    const { host, routes, aliases } = this.tables;
    const { source, protocol } = flow;
    const address = parseAddress(to.host);
    if (address === undefined) return { target: { kind: 'unreachable' }, source };
    if (host.owns(to.host)) {
      const open =
        protocol === 'UDP' ? host.receiverFor(to.host, to.port) : host.acceptorFor(to.host, to.port);
      if (open || isLoopback(address) || !aliases.isAlias(address)) {
        note('local', () => `${text(to)} is the node itself`);
        return { target: { kind: 'namespace', namespace: host }, source };
      }
    }
    const local = this.bridged(to.host, address, note);
    if (local) return { target: local, source };
    // A datagram from a peer never goes back to a peer: routes of two nodes can't send it in circles.
    const hop = host.owns(to.host) ? undefined : routes.lookup(address);
    if (hop) {
      note('route', () => `${hop.route.destination} via ${hop.route.gateway}`);
      note('overlay', () => `sent to ${text(hop.endpoint)}`);
      return { target: { kind: 'overlay', endpoint: hop.endpoint }, source: this.afterLocalSource(source) };
    }
    const real = aliases.resolve(to.host);
    if (real !== undefined) {
      note('host', () => `masqueraded into the machine's network: ${real}:${to.port}`);
      return { target: { kind: 'host', host: real }, source: this.nodeAddress() };
    }
    note('unreachable', () => `no route to ${to.host}`);
    return { target: { kind: 'unreachable' }, source };
  }

  private bridged(host: string, address: number, note: Note): Target | undefined {
    for (const bridge of this.tables.bridges.values()) {
      const port = bridge.portOf(host);
      if (port) {
        note('bridge', () => `${bridge.name}: ${port.container.mac} is behind ${port.hostIfname}`);
        return { kind: 'namespace', namespace: port.namespace };
      }
      const subnet = bridge.address === undefined ? undefined : parseCidr(bridge.address);
      if (subnet && contains(subnet, address)) {
        note('bridge', () => `${bridge.name}: nobody answers for ${host}`);
        return { kind: 'unreachable' };
      }
    }
    return undefined;
  }

  private afterLocalSource(source: string): string {
    return isLocalSource(source) ? this.nodeAddress() : source;
  }
}

const text = ({ host, port }: Address): string => `${host}:${port}`;
const firstInterface = (namespace: NetNamespace): string => [...namespace.interfaces.keys()][0] ?? 'lo';

function isLocalSource(source: string): boolean {
  const value = parseAddress(source);
  return value !== undefined && isLoopback(value);
}
