import type { Node, Pod } from '@tinkernetes/api';
import { NodeInfo } from './node-info';
import { orderByZone } from './node-order';
import { podInfoOf, uidOf } from './pod-info';
import { PodIndex } from './pod-index';
import type { PodKind } from './pod-kind';
import type { Snapshot } from './snapshot';

interface CachedPod {
  pod: Pod;
  /** Placed by us, not yet seen with its node in the API. */
  assumed: boolean;
}

/**
 * Nodes with the Pods on them, Pods that are just being bound included. A snapshot shares the nodes that did not
 * change since the last one; a node that a snapshot may hold is copied before it is changed.
 */
export class SchedulerCache {
  private readonly nodes = new Map<string, NodeInfo>();
  private readonly pods = new Map<string, CachedPod>();
  /** Pods by node, whose Node object is not here (yet, or any more). */
  private readonly orphans = new Map<string, Map<string, Pod>>();
  private readonly imageNodes = new Map<string, number>();
  private generation = 0;
  /** Nodes changed since the last snapshot. */
  private readonly changed = new Set<string>();
  private orderIsCurrent = false;
  private readonly index = new PodIndex();
  private readonly latest = new SnapshotOfCache(this.imageNodes, this.index);

  get nodeCount(): number {
    return this.nodes.size;
  }

  get podCount(): number {
    return this.pods.size;
  }

  /** The Pod with that uid, if it is only assumed. */
  assumedPod(uid: string): Pod | undefined {
    const cached = this.pods.get(uid);
    return cached?.assumed ? cached.pod : undefined;
  }

  /** Counts `pod` (with its node name set) as running there. */
  assume(pod: Pod): void {
    this.put(pod, true);
  }

  isAssumed(pod: Pod): boolean {
    return this.pods.get(uidOf(pod))?.assumed ?? false;
  }

  /** Takes back `assume`; does nothing once the API has confirmed the Pod. */
  forget(pod: Pod): void {
    if (this.isAssumed(pod)) this.removePod(pod);
  }

  /** A Pod that has a node according to the API, new or changed. */
  putPod(pod: Pod): void {
    this.put(pod, false);
  }

  removePod(pod: Pod): void {
    const cached = this.pods.get(uidOf(pod));
    if (!cached) return;
    this.pods.delete(uidOf(pod));
    const name = cached.pod.spec?.nodeName ?? '';
    if (this.nodes.has(name)) {
      this.writable(name)?.removePod(uidOf(pod));
      this.index.removePod(podInfoOf(cached.pod).kind, name);
    } else this.orphans.get(name)?.delete(uidOf(pod));
  }

  putNode(node: Node): void {
    const { name } = node.metadata;
    this.orderIsCurrent = false;
    const known = this.writable(name);
    if (known) {
      this.countImages(known, -1);
      known.setNode(node);
      this.countImages(known, 1);
      this.index.putNode(name, known.labels, kindsOn(known));
      return;
    }
    const info = new NodeInfo(node);
    info.generation = ++this.generation;
    this.index.putNode(name, info.labels, []);
    for (const pod of this.orphans.get(name)?.values() ?? []) {
      info.addPod(podInfoOf(pod));
      this.index.addPod(podInfoOf(pod).kind, name);
    }
    this.orphans.delete(name);
    this.countImages(info, 1);
    this.nodes.set(name, info);
  }

  removeNode(name: string): void {
    const info = this.nodes.get(name);
    if (!info) return;
    this.nodes.delete(name);
    this.orderIsCurrent = false;
    this.countImages(info, -1);
    for (const kind of kindsOn(info)) this.index.removePod(kind, name);
    this.index.removeNode(name);
    if (info.pods.length > 0) this.orphans.set(name, new Map(info.pods.map(({ pod }) => [uidOf(pod), pod])));
  }

  /** The nodes as they are now, for reading at once. */
  list(): IterableIterator<NodeInfo> {
    return this.nodes.values();
  }

  /** What `snapshot` gave last: a scheduling cycle that waits for somebody sees no changes meanwhile. */
  get lastSnapshot(): Snapshot {
    return this.latest;
  }

  snapshot(): Snapshot {
    if (!this.orderIsCurrent) {
      this.latest.rebuild(orderByZone([...this.nodes.values()].map(({ node }) => node)), this.nodes);
      this.orderIsCurrent = true;
    } else {
      this.latest.refresh(this.changed, this.nodes);
    }
    this.latest.generation = this.generation;
    this.changed.clear();
    return this.latest;
  }

  private put(pod: Pod, assumed: boolean): void {
    this.removePod(pod);
    this.pods.set(uidOf(pod), { pod, assumed });
    const name = pod.spec?.nodeName ?? '';
    const node = this.writable(name);
    if (node) {
      node.addPod(podInfoOf(pod));
      this.index.addPod(podInfoOf(pod).kind, name);
      return;
    }
    const orphans = this.orphans.get(name) ?? new Map<string, Pod>();
    this.orphans.set(name, orphans.set(uidOf(pod), pod));
  }

  /** The node, not shared with any snapshot. */
  private writable(name: string): NodeInfo | undefined {
    const info = this.nodes.get(name);
    if (!info) return undefined;
    const isShared = info.generation <= this.latest.generation;
    const own = isShared ? info.clone() : info;
    own.generation = ++this.generation;
    this.changed.add(name);
    if (isShared) this.nodes.set(name, own);
    return own;
  }

  private countImages(info: NodeInfo, by: 1 | -1): void {
    for (const image of info.images.keys()) {
      const count = (this.imageNodes.get(image) ?? 0) + by;
      if (count > 0) this.imageNodes.set(image, count);
      else this.imageNodes.delete(image);
    }
  }
}

const kindsOn = ({ pods }: NodeInfo): PodKind[] => pods.map(({ kind }) => kind);

/** One object for all cycles: between two of them only the nodes that changed are exchanged. */
class SnapshotOfCache implements Snapshot {
  nodes: NodeInfo[] = [];
  generation = 0;
  private positions = new Map<string, number>();

  constructor(
    private readonly images: ReadonlyMap<string, number>,
    readonly index: PodIndex,
  ) {}

  get(name: string): NodeInfo | undefined {
    const position = this.positions.get(name);
    return position === undefined ? undefined : this.nodes[position];
  }

  nodesWithImage(image: string): number {
    return this.images.get(image) ?? 0;
  }

  rebuild(order: readonly string[], nodes: ReadonlyMap<string, NodeInfo>): void {
    this.nodes = order.flatMap((name) => nodes.get(name) ?? []);
    this.positions = new Map(this.nodes.map((node, i) => [node.name, i]));
  }

  refresh(changed: Iterable<string>, nodes: ReadonlyMap<string, NodeInfo>): void {
    for (const name of changed) {
      const position = this.positions.get(name);
      const node = nodes.get(name);
      if (position !== undefined && node) this.nodes[position] = node;
    }
  }
}
