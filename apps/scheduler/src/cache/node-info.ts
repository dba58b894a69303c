import type { Node } from '@tinkernetes/api';
import { quantitiesOf } from '@tinkernetes/apimachinery';
import { uidOf, type HostPort, type PodInfo } from './pod-info';
import { Resources } from './resources';

/** A node and the Pods on it, with sums. A node in a snapshot is never changed: the cache copies before it writes. */
export class NodeInfo {
  pods: PodInfo[] = [];
  requested = new Resources();
  nonZeroRequested = new Resources();
  allocatable = new Resources();
  /** Image name → bytes. */
  images: ReadonlyMap<string, number> = new Map();
  /** Grows with every change. */
  generation = 0;
  private hostPorts: HostPort[] = [];

  constructor(public node: Node) {
    this.setNode(node);
  }

  get name(): string {
    return this.node.metadata.name;
  }

  get labels(): Readonly<Record<string, string>> {
    return this.node.metadata.labels ?? {};
  }

  get usedPorts(): readonly HostPort[] {
    return this.hostPorts;
  }

  setNode(node: Node): void {
    this.node = node;
    this.allocatable = Resources.of(quantitiesOf(node.status?.allocatable));
    const images = node.status?.images ?? [];
    this.images = new Map(
      images.flatMap(({ names = [], sizeBytes = 0 }) => names.map((name) => [name, sizeBytes] as const)),
    );
  }

  addPod(info: PodInfo): void {
    this.pods.push(info);
    if (info.hostPorts.length > 0) this.hostPorts.push(...info.hostPorts);
    this.requested.add(info.requests);
    this.nonZeroRequested.add(info.nonZeroRequests);
  }

  /** False when the Pod is not here. */
  removePod(uid: string): boolean {
    const info = this.pods.find(({ pod }) => uidOf(pod) === uid);
    if (!info) return false;
    this.pods = this.pods.filter((other) => other !== info);
    if (info.hostPorts.length > 0) this.hostPorts = this.pods.flatMap(({ hostPorts }) => hostPorts);
    this.requested.add(info.requests, -1);
    this.nonZeroRequested.add(info.nonZeroRequests, -1);
    return true;
  }

  clone(): NodeInfo {
    const copy = Object.create(NodeInfo.prototype) as NodeInfo;
    return Object.assign(copy, this, {
      pods: [...this.pods],
      hostPorts: [...this.hostPorts],
      requested: this.requested.clone(),
      nonZeroRequested: this.nonZeroRequested.clone(),
    });
  }
}
