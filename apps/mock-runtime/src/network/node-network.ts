import type { Clock, Logger, Random } from '@tinkernetes/component-base';
import {
  NetError,
  type Address,
  type AttachRequest,
  type AttachResponse,
  type Hop,
  type NodeInfo,
  type Policy,
  type Route,
  type Rule,
  type TraceRequest,
} from '@tinkernetes/vnet';
import { pipeline, type Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { Bridge } from './bridge';
import { connectTimeoutMs, within } from './connect-timeout';
import { Conntrack, type ConntrackEntry } from './conntrack';
import { Forwarding, type FlowRequest, type Path } from './forwarding';
import type { HostAliases } from './host-aliases';
import { HostNetwork } from './host-network';
import { countersOf, nodeInterface } from './interfaces';
import { macOf } from './ipv4';
import { hasEndpoint, NatTable } from './nat-table';
import {
  NetNamespace,
  type ConnectTarget,
  type NetInterface,
  type Packet,
  type TcpConnection,
  type Uplink,
} from './net-namespace';
import type { NetworkState } from './network-state';
import { NodePorts } from './node-ports';
import { openAnswer, Overlay, type FlowEnds } from './overlay';
import { PolicyTable } from './policy-table';
import { RouteTable } from './route-table';
import { VirtualSocket } from './virtual-socket';

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
  private readonly namespaces = new Map<string, NetNamespace>();
  private readonly bridges = new Map<string, Bridge>();
  private readonly nat: NatTable;
  private readonly routes = new RouteTable();
  private readonly policies = new PolicyTable();
  private readonly forwarding: Forwarding;
  private readonly hostNetwork: HostNetwork;
  private readonly nodePorts: NodePorts;
  private overlay: Overlay | undefined;

  constructor(private readonly options: NodeNetworkOptions) {
    const { clock, random, logger, aliases, nodeName, nodeAddress } = options;
    this.host = new NetNamespace('', this);
    this.host.interfaces.set('eth0', nodeInterface(nodeAddress));
    this.nat = new NatTable(clock, random);
    this.conntrack = new Conntrack(clock);
    this.hostNetwork = new HostNetwork(clock, (packet) => this.forward(undefined, packet));
    this.nodePorts = new NodePorts(this.host, clock, logger);
    this.forwarding = new Forwarding({
      nodeName,
      host: this.host,
      bridges: this.bridges,
      nat: this.nat,
      routes: this.routes,
      policies: this.policies,
      aliases,
    });
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
      accept: (ends, stream) => this.acceptFromPeer(ends, stream),
      receive: (packet) => this.forward(undefined, packet),
    });
    state.saveOverlayPort(this.overlay.endpoint.port);
    for (const request of saved.interfaces) this.plug(request);
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
    if (path === '') return this.host;
    let namespace = this.namespaces.get(path);
    if (!namespace) this.namespaces.set(path, (namespace = new NetNamespace(path, this)));
    return namespace;
  }

  removeNamespace(path: string): void {
    const namespace = this.namespaces.get(path);
    for (const name of [...(namespace?.interfaces.keys() ?? [])]) this.detach(path, name);
    this.namespaces.delete(path);
  }

  attach(request: AttachRequest): AttachResponse {
    const response = this.plug(request);
    this.options.state.saveInterface(request);
    return response;
  }

  detach(netns: string, ifname: string): void {
    const namespace = this.namespaces.get(netns);
    const container = namespace?.interfaces.get(ifname);
    if (container) this.bridges.get(container.bridge)?.unplug(container.hostIfname);
    namespace?.interfaces.delete(ifname);
    this.options.state.forgetInterface(netns, ifname);
  }

  setRules(owner: string, rules: readonly Rule[]): void {
    this.nat.set(owner, rules);
    this.options.state.saveRules(owner, rules);
    this.conntrack.forgetUdp((entry) => this.isStale(entry));
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
    const from =
      [...this.namespaces.values()].find(
        (n) => source !== undefined && source !== '' && n.addresses().includes(source),
      ) ?? this.namespace(netns);
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

  async connect(from: NetNamespace, target: ConnectTarget): Promise<TcpConnection> {
    target.signal?.throwIfAborted();
    const destination = { host: target.host, port: target.port };
    const source = { host: from.sourceFor(target.host), port: from.ephemeralPort() };
    const flow: FlowRequest = { from, source: source.host, destination, protocol: 'TCP' };
    const path = this.forwarding.decide(flow);
    const entry = this.track(flow, source, path);
    try {
      const stream = await this.open(path, source, target);
      if (entry) stream.once('close', () => this.conntrack.remove(entry));
      return { stream, local: source, remote: destination };
    } catch (error) {
      if (entry) this.conntrack.remove(entry);
      throw error;
    }
  }

  send(from: NetNamespace, packet: Packet): void {
    this.forward(from, packet);
  }

  private async open(path: Path, source: Address, wanted: ConnectTarget): Promise<Duplex> {
    const { target, destination } = path;
    const operation = `dial tcp ${wanted.host}:${wanted.port}: connect`;
    const masked = { host: path.source, port: source.port };
    switch (target.kind) {
      case 'namespace': {
        const accept = target.namespace.acceptorFor(destination.host, destination.port);
        if (!accept) throw new NetError('ECONNREFUSED', operation);
        const remote = { host: wanted.host, port: wanted.port };
        const [client, server] = VirtualSocket.pair(
          { local: source, remote },
          { local: destination, remote: masked },
          countersOf(target.namespace),
        );
        accept({ stream: server, local: destination, remote: masked });
        return client;
      }
      case 'overlay':
        return this.throughOverlay(target.endpoint, { source: masked, destination }, wanted);
      case 'host':
        return this.hostNetwork.connect(target.host, {
          ...wanted,
          port: destination.port,
          timeoutMs: wanted.timeoutMs ?? connectTimeoutMs,
        });
      case 'refused':
        throw new NetError('ECONNREFUSED', operation);
      case 'unreachable':
        throw new NetError('EHOSTUNREACH', operation);
      case 'dropped':
        await this.options.clock.sleep(wanted.timeoutMs ?? connectTimeoutMs, wanted.signal);
        throw new NetError('ETIMEDOUT', operation);
    }
  }

  private throughOverlay(endpoint: Address, ends: FlowEnds, wanted: ConnectTarget): Promise<Duplex> {
    const { overlay } = this;
    if (!overlay) throw new NetError('EHOSTUNREACH', `dial tcp ${wanted.host}:${wanted.port}: connect`);
    return within((signal) => overlay.connect(endpoint, ends, signal), wanted, this.options.clock);
  }

  private async acceptFromPeer(
    ends: { source: Address; destination: Address },
    stream: Socket,
  ): Promise<void> {
    const { source, destination } = ends;
    const path = this.forwarding.decide({
      from: undefined,
      source: source.host,
      destination,
      protocol: 'TCP',
    });
    if (path.target.kind === 'namespace') {
      const accept = path.target.namespace.acceptorFor(path.destination.host, path.destination.port);
      if (!accept)
        throw new NetError('ECONNREFUSED', `dial tcp ${destination.host}:${destination.port}: connect`);
      stream.write(openAnswer);
      accept({ stream, local: path.destination, remote: { host: path.source, port: source.port } });
      return;
    }
    // Whoever is dropped is waited for no longer than it waits itself.
    const gone = new AbortController();
    stream.once('close', () => gone.abort(new NetError('ECONNRESET', 'accept')));
    const { signal } = gone;
    const onward = await this.open(path, source, { host: destination.host, port: destination.port, signal });
    stream.write(openAnswer);
    pipeline(stream, onward, () => undefined);
    pipeline(onward, stream, () => undefined);
  }

  /** A datagram from a local namespace, from another node (`from` undefined), or an answer from the machine's network. */
  private forward(from: NetNamespace | undefined, packet: Packet): void {
    const { source, destination, data } = packet;
    const answered = this.conntrack.findReply('UDP', source, destination);
    if (answered)
      return this.deliver(from, { source: answered.destination, destination: answered.source, data });
    const known = this.conntrack.findOriginal('UDP', source, destination);
    if (known)
      return this.deliver(from, { source: known.replyDestination, destination: known.replySource, data });
    const flow: FlowRequest = { from, source: source.host, destination, protocol: 'UDP' };
    const path = this.forwarding.decide(flow);
    this.track(flow, source, path);
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
    this.transmit(this.forwarding.decide(flow), packet);
  }

  private transmit({ target }: Path, packet: Packet): void {
    switch (target.kind) {
      case 'namespace':
        this.receive(target.namespace, packet);
        return;
      case 'overlay':
        this.overlay?.send(target.endpoint, packet);
        return;
      case 'host':
        this.hostNetwork.send(target.host, packet);
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
      this.options.logger.warn({ err: error, host, port }, 'a receiver of datagrams failed');
    }
  }

  private track(flow: FlowRequest, source: Address, path: Path): ConntrackEntry | undefined {
    const translated = path.rule !== undefined || path.source !== flow.source;
    // Answers to datagrams pass policies that the first one has passed.
    const isWatched = flow.protocol === 'UDP' && !this.policies.isEmpty;
    if ((!translated && !isWatched) || path.target.kind === 'refused' || path.target.kind === 'dropped')
      return undefined;
    return this.conntrack.add({
      protocol: flow.protocol,
      source,
      destination: flow.destination,
      replySource: path.destination,
      replyDestination: { host: path.source, port: source.port },
      rule: path.rule?.name,
    });
  }

  private isStale({ protocol, source, destination, replySource, rule: name }: ConntrackEntry): boolean {
    if (name === undefined) return false;
    const flow = { protocol, source: source.host, destination: destination.host, port: destination.port };
    const rule = this.nat.find(flow, this.host.owns(destination.host));
    return (
      rule?.action !== 'DNAT' || !hasEndpoint(rule, { address: replySource.host, port: replySource.port })
    );
  }

  private plug(request: AttachRequest): AttachResponse {
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
}
