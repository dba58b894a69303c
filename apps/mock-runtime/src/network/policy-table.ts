import type { Address, Policy, PolicyPeer, PolicyRule, Protocol } from '@tinkernetes/vnet';
import { contains, parseAddress, parseCidr } from './ipv4';

export interface PolicyFlow {
  protocol: Protocol;
  source: string;
  /** After DNAT. */
  destination: Address;
}

type Direction = Policy['direction'];

/** Why a flow is stopped: `ingress of default/deny-all`. */
export type Refusal = string;

/**
 * Which flows the network policies let through: a Pod that none selects is open, and of those that select it one rule has to
 * allow the flow. Source: https://kubernetes.io/docs/concepts/services-networking/network-policies/
 */
export class PolicyTable {
  private readonly owners = new Map<string, readonly Policy[]>();
  private readonly bySubject: Record<Direction, Map<string, Policy[]>> = {
    INGRESS: new Map(),
    EGRESS: new Map(),
  };

  get isEmpty(): boolean {
    return this.owners.size === 0;
  }

  set(owner: string, policies: readonly Policy[]): void {
    if (policies.length > 0) this.owners.set(owner, policies);
    else this.owners.delete(owner);
    this.bySubject.INGRESS.clear();
    this.bySubject.EGRESS.clear();
    for (const policy of [...this.owners.values()].flat()) {
      const index = this.bySubject[policy.direction];
      for (const subject of policy.subjects) index.set(subject, [...(index.get(subject) ?? []), policy]);
    }
  }

  /** Undefined: the Pod at `subject` may have this flow. */
  refusal(direction: Direction, subject: string, flow: PolicyFlow): Refusal | undefined {
    const policies = this.bySubject[direction].get(subject);
    if (!policies) return undefined;
    const peer = direction === 'INGRESS' ? flow.source : flow.destination.host;
    const isAllowed = policies.some(({ rules }) => rules.some((rule) => allows(rule, peer, flow)));
    if (isAllowed) return undefined;
    return `${direction.toLowerCase()} of ${policies.map(({ name }) => name).join(', ')}`;
  }
}

function allows({ peers, ports }: PolicyRule, peer: string, { protocol, destination }: PolicyFlow): boolean {
  const isPort = ports.some(({ protocol: own, port = 0, endPort = 0 }) => {
    if (own !== protocol) return false;
    return port === 0 || (destination.port >= port && destination.port <= Math.max(port, endPort));
  });
  if (ports.length > 0 && !isPort) return false;
  return peers.length === 0 || peers.some((own) => isPeer(own, peer));
}

function isPeer({ addresses = [], cidr, except = [] }: PolicyPeer, address: string): boolean {
  if (addresses.includes(address)) return true;
  return cidr !== undefined && isIn(address, cidr) && !except.some((range) => isIn(address, range));
}

function isIn(address: string, range: string): boolean {
  const cidr = parseCidr(range);
  const value = parseAddress(address);
  return cidr !== undefined && value !== undefined && contains(cidr, value);
}
