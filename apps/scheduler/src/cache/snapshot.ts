import type { NodeInfo } from './node-info';
import type { PodIndex } from './pod-index';

/** The cluster as one scheduling cycle sees it. */
export interface Snapshot {
  /** Zones take turns, so that a search that stops early has seen all of them. */
  readonly nodes: readonly NodeInfo[];
  get(name: string): NodeInfo | undefined;
  /** The Pods on these nodes, by kind and topology. */
  readonly index: PodIndex;
  /** On how many nodes an image is. */
  nodesWithImage(image: string): number;
}
