import type { NodeInfo } from './node-info';

/** The cluster as one scheduling cycle sees it. */
export interface Snapshot {
  /** Zones take turns, so that a search that stops early has seen all of them. */
  readonly nodes: readonly NodeInfo[];
  get(name: string): NodeInfo | undefined;
  readonly withAffinity: readonly NodeInfo[];
  readonly withRequiredAntiAffinity: readonly NodeInfo[];
  /** On how many nodes an image is. */
  nodesWithImage(image: string): number;
}
