import type { Node } from '@tinkernetes/api';
import type { CidrSet } from './cidr-set';

/** Which Node has which blocks, one of each range. Source: k8s.io/kubernetes/pkg/controller/nodeipam/ipam range_allocator. */
export class NodeRanges {
  /** Ranges given to nodes, whether their updates were seen since or not. */
  private readonly given = new Map<string, readonly string[]>();

  constructor(private readonly sets: readonly CidrSet[]) {}

  /** Takes note of what a Node has already, from an earlier run or from its creator. */
  occupy({ metadata: { name }, spec }: Node): void {
    const has = cidrsOf(spec);
    if (has.length === 0) return;
    const reserved = this.given.get(name) ?? [];
    // Somebody else chose: what was reserved for it is free.
    this.give(reserved.filter((cidr) => !has.includes(cidr)));
    has.forEach((cidr, i) => this.sets[i]?.occupy(cidr));
    this.given.set(name, has);
  }

  /** The Node's blocks, the same ones however often it is asked; undefined when a range has none left. */
  reserve(name: string): readonly string[] | undefined {
    const given = this.given.get(name);
    if (given) return given;
    const taken: string[] = [];
    for (const set of this.sets) {
      const cidr = set.allocate();
      if (cidr === undefined) {
        this.give(taken);
        return undefined;
      }
      taken.push(cidr);
    }
    this.given.set(name, taken);
    return taken;
  }

  /** The Node is gone: its blocks are others' now. */
  release({ metadata: { name }, spec }: Node): void {
    this.give(new Set([...(this.given.get(name) ?? []), ...cidrsOf(spec)]));
    this.given.delete(name);
  }

  private give(cidrs: Iterable<string>): void {
    // A block that is in no range of a set is none of its.
    for (const cidr of cidrs) for (const set of this.sets) set.release(cidr);
  }
}

export const hasCidrs = ({ spec }: Node): boolean => cidrsOf(spec).length > 0;

const cidrsOf = ({ podCIDR, podCIDRs }: Node['spec']): readonly string[] =>
  podCIDRs?.length ? podCIDRs : podCIDR ? [podCIDR] : [];
