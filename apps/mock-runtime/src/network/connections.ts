import type { Clock } from '@tinkernetes/component-base';
import { NetError, type Address } from '@tinkernetes/vnet';
import { pipeline, type Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { connectTimeoutMs, within } from './connect-timeout';
import type { Conntrack } from './conntrack';
import type { FlowTracking } from './flow-tracking';
import type { FlowRequest, Forwarding, Path } from './forwarding';
import type { HostNetwork } from './host-network';
import { countersOf } from './interfaces';
import type { ConnectTarget, NetNamespace, TcpConnection } from './net-namespace';
import { openAnswer, type FlowEnds, type Overlay } from './overlay';
import { VirtualSocket } from './virtual-socket';

export interface ConnectionParts {
  readonly forwarding: Forwarding;
  readonly tracking: FlowTracking;
  readonly conntrack: Conntrack;
  readonly hostNetwork: HostNetwork;
  readonly clock: Clock;
  /** Undefined until the network has been started. */
  overlay(): Overlay | undefined;
}

/** TCP: connections from a node's namespaces, and those that arrive from other nodes. */
export class Connections {
  constructor(private readonly parts: ConnectionParts) {}

  async connect(from: NetNamespace, target: ConnectTarget): Promise<TcpConnection> {
    target.signal?.throwIfAborted();
    const destination = { host: target.host, port: target.port };
    const source = { host: from.sourceFor(target.host), port: from.ephemeralPort() };
    const flow: FlowRequest = { from, source: source.host, destination, protocol: 'TCP' };
    const path = this.parts.forwarding.decide(flow);
    const entry = this.parts.tracking.track(flow, source, path);
    try {
      const stream = await this.open(path, source, target);
      if (entry) stream.once('close', () => this.parts.conntrack.remove(entry));
      return { stream, local: source, remote: destination };
    } catch (error) {
      if (entry) this.parts.conntrack.remove(entry);
      throw error;
    }
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
        return this.parts.hostNetwork.connect(target.host, {
          ...wanted,
          port: destination.port,
          timeoutMs: wanted.timeoutMs ?? connectTimeoutMs,
        });
      case 'refused':
        throw new NetError('ECONNREFUSED', operation);
      case 'unreachable':
        throw new NetError('EHOSTUNREACH', operation);
      case 'dropped':
        await this.parts.clock.sleep(wanted.timeoutMs ?? connectTimeoutMs, wanted.signal);
        throw new NetError('ETIMEDOUT', operation);
    }
  }

  private throughOverlay(endpoint: Address, ends: FlowEnds, wanted: ConnectTarget): Promise<Duplex> {
    const overlay = this.parts.overlay();
    if (!overlay) throw new NetError('EHOSTUNREACH', `dial tcp ${wanted.host}:${wanted.port}: connect`);
    return within((signal) => overlay.connect(endpoint, ends, signal), wanted, this.parts.clock);
  }

  /** A connection that another node's Pod opens. */
  async acceptFromPeer(ends: FlowEnds, stream: Socket): Promise<void> {
    const { source, destination } = ends;
    const path = this.parts.forwarding.decide({
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
}
