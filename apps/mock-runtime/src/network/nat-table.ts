import type { Clock, Random } from '@tinkernetes/component-base';
import type { Protocol, Rule, RuleEndpoint } from '@tinkernetes/vnet';
import { contains, parseAddress, parseCidr } from './ipv4';

export interface Flow {
  protocol: Protocol;
  source: string;
  destination: string;
  port: number;
}

/** What the NAT table does with a new flow. Undefined: no rule matches. */
export type NatVerdict =
  | { action: 'DNAT'; rule: Rule; endpoint: RuleEndpoint; affinity: boolean }
  | { action: 'REDIRECT'; rule: Rule; port: number }
  | { action: 'REJECT' | 'DROP'; rule: Rule };

interface Affinity {
  endpoint: RuleEndpoint;
  expires: number;
}

/** A node's NAT rules (iptables' `nat` table), replaced owner by owner. */
export class NatTable {
  private readonly owners = new Map<string, readonly Rule[]>();
  /** Rules for one address or node port in their order: the first whose source ranges allow the flow decides. */
  private byDestination = new Map<string, Rule[]>();
  private byNodePort = new Map<string, Rule[]>();
  private readonly affinities = new Map<string, Affinity>();

  constructor(
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  set(owner: string, rules: readonly Rule[]): void {
    if (rules.length > 0) this.owners.set(owner, rules);
    else this.owners.delete(owner);
    const byDestination = new Map<string, Rule[]>();
    const byNodePort = new Map<string, Rule[]>();
    for (const rule of [...this.owners.values()].flat()) {
      if (rule.nodePort) append(byNodePort, `${rule.protocol}:${rule.port}`, rule);
      for (const destination of rule.destinations ?? [])
        append(byDestination, `${rule.protocol}:${destination}:${rule.port}`, rule);
    }
    this.byDestination = byDestination;
    this.byNodePort = byNodePort;
    this.forgetStaleAffinities();
  }

  nodePorts(): readonly Rule[] {
    return [...this.byNodePort.values()].flatMap(([first]) => (first ? [first] : []));
  }

  /** `toNode`: the destination is one of the node's own addresses. */
  find({ protocol, source, destination, port }: Flow, toNode: boolean): Rule | undefined {
    const rules =
      this.byDestination.get(`${protocol}:${destination}:${port}`) ??
      (toNode ? this.byNodePort.get(`${protocol}:${port}`) : undefined);
    return rules?.find((rule) => mayUse(rule, source));
  }

  translate(flow: Flow, toNode: boolean): NatVerdict | undefined {
    const rule = this.find(flow, toNode);
    if (!rule) return undefined;
    switch (rule.action) {
      case 'REJECT':
      case 'DROP':
        return { action: rule.action, rule };
      case 'REDIRECT':
        return { action: 'REDIRECT', rule, port: rule.redirectPort ?? 0 };
      case 'DNAT':
        return this.choose(rule, flow.source);
    }
  }

  private choose(rule: Rule, source: string): NatVerdict {
    const endpoints = rule.endpoints ?? [];
    if (endpoints.length === 0) return { action: 'REJECT', rule };
    const key = `${rule.name}|${source}`;
    const now = this.clock.now();
    const kept = rule.affinitySeconds ? this.affinities.get(key) : undefined;
    if (rule.affinitySeconds && kept && kept.expires > now && hasEndpoint(rule, kept.endpoint)) {
      kept.expires = now + rule.affinitySeconds * 1000;
      return { action: 'DNAT', rule, endpoint: kept.endpoint, affinity: true };
    }
    const endpoint = endpoints[Math.floor(this.random.next() * endpoints.length)] as RuleEndpoint;
    if (rule.affinitySeconds)
      this.affinities.set(key, { endpoint, expires: now + rule.affinitySeconds * 1000 });
    return { action: 'DNAT', rule, endpoint, affinity: false };
  }

  private forgetStaleAffinities(): void {
    const now = this.clock.now();
    for (const [key, { expires }] of this.affinities) if (expires <= now) this.affinities.delete(key);
  }
}

function append(map: Map<string, Rule[]>, key: string, rule: Rule): void {
  const rules = map.get(key);
  if (rules) rules.push(rule);
  else map.set(key, [rule]);
}

export function hasEndpoint(rule: Rule, { address, port }: RuleEndpoint): boolean {
  return (rule.endpoints ?? []).some((e) => e.address === address && e.port === port);
}

function mayUse({ sourceRanges = [] }: Rule, source: string): boolean {
  if (sourceRanges.length === 0) return true;
  const address = parseAddress(source);
  return (
    address !== undefined &&
    sourceRanges.some((text) => {
      const range = parseCidr(text);
      return range !== undefined && contains(range, address);
    })
  );
}
