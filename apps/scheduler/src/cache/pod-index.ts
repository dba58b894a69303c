import type { PodKind } from './pod-kind';

type Labels = Readonly<Record<string, string>>;
type Counts = ReadonlyMap<string, number>;

/** Where the Pods of one kind are. */
interface Presence {
  /** Node → Pods there. */
  readonly byNode: Map<string, number>;
  /** Label key → label value → Pods on nodes with that label, for the keys that were asked for. */
  readonly byTopology: Map<string, Map<string, number>>;
}

/** The domains of a topology key. */
export interface Domains {
  /** Label value → number of nodes. */
  readonly sizes: Counts;
  /** Nodes without the label. */
  readonly missing: number;
}

/**
 * Counts Pods by kind and topology, and keeps the counts as Pods come and go: finding out how many Pods of a kind each
 * zone has takes no look at the Pods.
 */
export class PodIndex {
  private readonly presence = new Map<PodKind, Presence>();
  private readonly nodes = new Map<string, Labels>();
  private readonly domains = new Map<string, Domains>();

  get kinds(): Iterable<PodKind> {
    return this.presence.keys();
  }

  /** How many Pods of the kind each domain has; entries at 0 are left out. To be read at once, not kept. */
  countsOf(kind: PodKind, topologyKey: string): Counts {
    const where = this.presence.get(kind);
    if (!where) return none;
    const counted = where.byTopology.get(topologyKey);
    if (counted) return counted;
    const counts = new Map<string, number>();
    for (const [node, pods] of where.byNode) add(counts, this.nodes.get(node)?.[topologyKey], pods);
    where.byTopology.set(topologyKey, counts);
    return counts;
  }

  domainsOf(topologyKey: string): Domains {
    const counted = this.domains.get(topologyKey);
    if (counted) return counted;
    const sizes = new Map<string, number>();
    let missing = 0;
    for (const labels of this.nodes.values()) {
      if (labels[topologyKey] === undefined) missing++;
      add(sizes, labels[topologyKey], 1);
    }
    const made = { sizes, missing };
    this.domains.set(topologyKey, made);
    return made;
  }

  /** A new node, or one whose labels may be others now. */
  putNode(name: string, labels: Labels, pods: Iterable<PodKind>): void {
    const before = this.nodes.get(name);
    this.nodes.set(name, labels);
    if (before && haveSame(before, labels)) return;
    this.domains.clear();
    for (const kind of pods) this.presence.get(kind)?.byTopology.clear();
  }

  /** Its Pods must have been taken out. */
  removeNode(name: string): void {
    this.nodes.delete(name);
    this.domains.clear();
  }

  addPod(kind: PodKind, node: string): void {
    this.change(kind, node, 1);
  }

  removePod(kind: PodKind, node: string): void {
    this.change(kind, node, -1);
  }

  private change(kind: PodKind, node: string, by: 1 | -1): void {
    const where = this.presence.get(kind) ?? { byNode: new Map(), byTopology: new Map() };
    this.presence.set(kind, where);
    add(where.byNode, node, by);
    const labels = this.nodes.get(node);
    for (const [key, counts] of where.byTopology) add(counts, labels?.[key], by);
    if (where.byNode.size === 0) this.presence.delete(kind);
  }
}

const none: Counts = new Map();

function add(counts: Map<string, number>, key: string | undefined, by: number): void {
  if (key === undefined) return;
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

function haveSame(a: Labels, b: Labels): boolean {
  if (a === b) return true;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
