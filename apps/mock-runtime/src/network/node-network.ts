import type { Clock, Logger, Random } from '@tinkernetes/component-base';
import type {
  AttachRequest,
  AttachResponse,
  Hop,
  NodeInfo,
  Policy,
  Route,
  Rule,
  TraceRequest,
} from '@tinkernetes/vnet';
import { Attachments } from './attachments';
import { Connections } from './connections';
import { Conntrack } from './conntrack';
import { Datagrams } from './datagrams';
import { FlowTracking } from './flow-tracking';
import { Forwarding } from './forwarding';
import type { HostAliases } from './host-aliases';
import { HostNetwork } from './host-network';
import { nodeInterface } from './interfaces';
import { NatTable } from './nat-table';
import {
  NetNamespace,
  type ConnectTarget,
  type Packet,
  type TcpConnection,
  type Uplink,
} from './net-namespace';
import type { NetworkState } from './network-state';
import { NodePorts } from './node-ports';
import { Overlay } from './overlay';
import { PolicyTable } from './policy-table';
import { RouteTable } from './route-table';

export interface NodeNetworkOptions {
  nodeName: string;
  nodeAddress: string;
  overlayBindAddress: string;
  aliases: HostAliases;
  clock: Clock;
  random: Random;
  logger: Logger;
  /** What outlives a restart, as a kernel's tables outlive the runtime. */
  state: NetworkState;
}

/** A node's network: namespaces, bridges, NAT, conntrack, routes, the overlay, and the way out. */
export class NodeNetwork implements Uplink {
  readonly host: NetNamespace;
  readonly conntrack: Conntrack;
  podCidr = '';
  private readonly attachments: Attachments;
  private readonly nat: NatTable;
  private readonly routes = new RouteTable();
  private readonly policies = new PolicyTable();
  private readonly tracking: FlowTracking;
  private readonly forwarding: Forwarding;
  private readonly hostNetwork: HostNetwork;
  private readonly connections: Connections;
  private readonly datagrams: Datagrams;
  private readonly nodePorts: NodePorts;
  private overlay: Overlay | undefined;

  constructor(private readonly options: NodeNetworkOptions) {
    const { clock, random, logger, aliases, nodeName, nodeAddress } = options;
    const host = new NetNamespace('', this);
    host.interfaces.set('eth0', nodeInterface(nodeAddress));
    const conntrack = new Conntrack(clock);
    const nat = new NatTable(clock, random);
    const attachments = new Attachments(host, this);
    const { bridges } = attachments;
    const { routes, policies } = this;
    const hostNetwork = new HostNetwork(clock, (packet) => this.datagrams.forward(undefined, packet));
    const tracking = new FlowTracking({ conntrack, nat, policies, host });
    const forwarding = new Forwarding({ nodeName, host, bridges, nat, routes, policies, aliases });
    const parts = { forwarding, tracking, conntrack, hostNetwork, overlay: () => this.overlay };
    this.connections = new Connections({ ...parts, clock });
    this.datagrams = new Datagrams({ ...parts, logger });
    this.nodePorts = new NodePorts(host, clock, logger);
    this.host = host;
    this.conntrack = conntrack;
    this.nat = nat;
    this.attachments = attachments;
    this.hostNetwork = hostNetwork;
    this.tracking = tracking;
    this.forwarding = forwarding;
  }

  get nodeName(): string {
    return this.options.nodeName;
  }

  async start(): Promise<void> {
    const { state, overlayBindAddress, logger } = this.options;
    const saved = state.load();
    this.overlay = await Overlay.start({
      bindAddress: overlayBindAddress,
      port: saved.overlayPort,
      logger,
      accept: (ends, stream) => this.connections.acceptFromPeer(ends, stream),
      receive: (packet) => this.datagrams.forward(undefined, packet),
    });
    state.saveOverlayPort(this.overlay.endpoint.port);
    for (const request of saved.interfaces) this.attachments.plug(request);
    for (const [owner, rules] of Object.entries(saved.rules)) this.nat.set(owner, rules);
    for (const [owner, routes] of Object.entries(saved.routes)) this.routes.set(owner, routes);
    for (const [owner, policies] of Object.entries(saved.policies)) this.policies.set(owner, policies);
    this.nodePorts.apply(this.nat.nodePorts());
  }

  stop(): void {
    this.nodePorts.stop();
    this.hostNetwork.stop();
    this.overlay?.close();
    this.options.state.close();
  }

  info(): NodeInfo {
    const endpoint = this.overlay?.endpoint;
    return {
      name: this.options.nodeName,
      address: this.options.nodeAddress,
      overlayEndpoint: endpoint ? `${endpoint.host}:${endpoint.port}` : '',
      podCidr: this.podCidr,
    };
  }

  /** The namespace at a CNI_NETNS path; made when it does not exist. */
  namespace(path: string): NetNamespace {
    return this.attachments.namespace(path);
  }

  removeNamespace(path: string): void {
    for (const name of this.attachments.interfaceNames(path)) this.detach(path, name);
    this.attachments.removeNamespace(path);
  }

  attach(request: AttachRequest): AttachResponse {
    const response = this.attachments.plug(request);
    this.options.state.saveInterface(request);
    return response;
  }

  detach(netns: string, ifname: string): void {
    this.attachments.unplug(netns, ifname);
    this.options.state.forgetInterface(netns, ifname);
  }

  setRules(owner: string, rules: readonly Rule[]): void {
    this.nat.set(owner, rules);
    this.options.state.saveRules(owner, rules);
    this.conntrack.forgetUdp((entry) => this.tracking.isStale(entry));
    this.nodePorts.apply(this.nat.nodePorts());
  }

  setRoutes(owner: string, routes: readonly Route[]): void {
    this.routes.set(owner, routes);
    this.options.state.saveRoutes(owner, routes);
  }

  setPolicies(owner: string, policies: readonly Policy[]): void {
    this.policies.set(owner, policies);
    this.options.state.savePolicies(owner, policies);
  }

  trace({ netns = '', source, destination, port, protocol = 'TCP' }: TraceRequest): readonly Hop[] {
    const from = (source ? this.attachments.withAddress(source) : undefined) ?? this.namespace(netns);
    const hops: Hop[] = [];
    const target = { host: destination, port };
    const path = this.forwarding.decide(
      { from, source: from.sourceFor(destination), destination: target, protocol },
      hops,
    );
    if (path.target.kind === 'namespace') {
      const { namespace } = path.target;
      const open =
        protocol === 'UDP'
          ? namespace.receiverFor(path.destination.host, path.destination.port)
          : namespace.acceptorFor(path.destination.host, path.destination.port);
      hops.push({
        node: this.options.nodeName,
        where: open ? 'local' : 'refused',
        decision: `port ${path.destination.port} is ${open ? 'open' : 'closed'}`,
      });
    }
    return hops;
  }

  connect(from: NetNamespace, target: ConnectTarget): Promise<TcpConnection> {
    return this.connections.connect(from, target);
  }

  send(from: NetNamespace, packet: Packet): void {
    this.datagrams.forward(from, packet);
  }
}
