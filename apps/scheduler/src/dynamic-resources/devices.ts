import type { Device, Node, ResourceSlice } from '@tinkernetes/api';
import { nodeSelectorMatches } from '@tinkernetes/apimachinery';

/** A device that a node can reach. */
export interface Candidate {
  readonly slice: ResourceSlice;
  readonly device: Device;
  /** `driver/pool/device` */
  readonly key: string;
}
export interface ReachableDevices {
  readonly candidates: readonly Candidate[];
  /** Pools of which some slices are missing: `driver/pool`. They offer nothing yet. */
  readonly incomplete: ReadonlySet<string>;
  /** Devices that this allocator can't give out; a Pod that gets none is told so. */
  readonly unsupported: number;
}

export const keyOfDevice = (d: { driver: string; pool: string; device: string }): string =>
  `${d.driver}/${d.pool}/${d.device}`;
const poolOf = ({ spec }: ResourceSlice): string => `${spec.driver}/${spec.pool.name}`;

/** All devices that drivers have published. A pool counts with its newest generation, and only when it is complete. */
export class DevicePools {
  private readonly complete = new Map<string, boolean>();
  private readonly ofNode = new Map<string, ResourceSlice[]>();
  /** Slices that more than one node may reach. */
  private readonly shared: ResourceSlice[] = [];

  constructor(slices: readonly ResourceSlice[]) {
    for (const [pool, current] of currentSlices(slices)) {
      this.complete.set(pool, current.length >= (current[0]?.spec.pool.resourceSliceCount ?? 1));
      for (const slice of current) this.listFor(slice.spec.nodeName).push(slice);
    }
  }

  reachableFrom(node: Node): ReachableDevices {
    const incomplete = new Set<string>();
    const candidates: Candidate[] = [];
    let unsupported = 0;
    for (const slice of [...(this.ofNode.get(node.metadata.name) ?? []), ...this.shared]) {
      const reachable = reachableDevices(slice, node);
      if (this.complete.get(poolOf(slice))) {
        const ordinary = reachable.filter(({ device }) => isOrdinary(device));
        candidates.push(...ordinary);
        unsupported += reachable.length - ordinary.length;
      } else if (reachable.length > 0) incomplete.add(poolOf(slice));
    }
    return { candidates, incomplete, unsupported };
  }

  private listFor(nodeName: string | undefined): ResourceSlice[] {
    if (!nodeName) return this.shared;
    const known = this.ofNode.get(nodeName) ?? [];
    this.ofNode.set(nodeName, known);
    return known;
  }
}

function currentSlices(slices: readonly ResourceSlice[]): Map<string, ResourceSlice[]> {
  const pools = new Map<string, ResourceSlice[]>();
  for (const slice of slices) {
    const known = pools.get(poolOf(slice)) ?? [];
    const newest = known[0]?.spec.pool.generation ?? -Infinity;
    const { generation } = slice.spec.pool;
    if (generation > newest) pools.set(poolOf(slice), [slice]);
    else if (generation === newest) known.push(slice);
  }
  return pools;
}

function reachableDevices(slice: ResourceSlice, node: Node): Candidate[] {
  const { spec } = slice;
  const { driver } = spec;
  if (!spec.perDeviceNodeSelection && !reaches(spec, node)) return [];
  return (spec.devices ?? [])
    .filter((device) => !spec.perDeviceNodeSelection || reaches(device, node))
    .map((device) => ({
      slice,
      device,
      key: keyOfDevice({ driver, pool: spec.pool.name, device: device.name }),
    }));
}

function reaches(
  { nodeName, allNodes, nodeSelector }: Pick<Device, 'nodeName' | 'allNodes' | 'nodeSelector'>,
  node: Node,
): boolean {
  if (nodeName) return nodeName === node.metadata.name;
  return Boolean(allNodes) || (nodeSelector !== undefined && nodeSelectorMatches(nodeSelector, node));
}

/** Devices that are shared, cut out of others, or bound late need what this allocator doesn't do. */
const isOrdinary = (device: Device): boolean =>
  !device.consumesCounters?.length && !device.allowMultipleAllocations && !device.bindingConditions?.length;
