import type { Address } from '@tinkernetes/vnet';
import type { Conntrack, ConntrackEntry } from './conntrack';
import type { FlowRequest, Path } from './forwarding';
import { hasEndpoint, type NatTable } from './nat-table';
import type { NetNamespace } from './net-namespace';
import type { PolicyTable } from './policy-table';

export interface TrackingTables {
  readonly conntrack: Conntrack;
  readonly nat: NatTable;
  readonly policies: PolicyTable;
  /** The node's own namespace. */
  readonly host: NetNamespace;
}

/** Which flows have to be known again, and which of them no longer go where the rules say. */
export class FlowTracking {
  constructor(private readonly tables: TrackingTables) {}

  track(flow: FlowRequest, source: Address, path: Path): ConntrackEntry | undefined {
    const translated = path.rule !== undefined || path.source !== flow.source;
    // Answers to datagrams pass policies that the first one has passed.
    const isWatched = flow.protocol === 'UDP' && !this.tables.policies.isEmpty;
    if ((!translated && !isWatched) || path.target.kind === 'refused' || path.target.kind === 'dropped')
      return undefined;
    return this.tables.conntrack.add({
      protocol: flow.protocol,
      source,
      destination: flow.destination,
      replySource: path.destination,
      replyDestination: { host: path.source, port: source.port },
      rule: path.rule?.name,
    });
  }

  /** Whether a flow's rule would not send it where it goes any more. */
  isStale({ protocol, source, destination, replySource, rule: name }: ConntrackEntry): boolean {
    if (name === undefined) return false;
    const flow = { protocol, source: source.host, destination: destination.host, port: destination.port };
    const rule = this.tables.nat.find(flow, this.tables.host.owns(destination.host));
    return (
      rule?.action !== 'DNAT' || !hasEndpoint(rule, { address: replySource.host, port: replySource.port })
    );
  }
}
