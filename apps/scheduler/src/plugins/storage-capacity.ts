import {
  CSIDrivers,
  CSIStorageCapacities,
  type CSIStorageCapacity,
  type Node,
  type PersistentVolumeClaim,
  type StorageClass,
} from '@tinkernetes/api';
import { Quantity, selectorOf } from '@tinkernetes/apimachinery';
import type { SharedInformerFactory } from '@tinkernetes/informers';

/** Room for new volumes, as CSI drivers publish it. Source: https://kubernetes.io/docs/concepts/storage/storage-capacity/ */
export class StorageCapacity {
  private readonly drivers;
  private readonly capacities;

  constructor(informers: SharedInformerFactory) {
    this.drivers = informers.for(CSIDrivers).lister;
    this.capacities = informers.for(CSIStorageCapacities).lister;
  }

  /** Of drivers that don't publish it, everything is expected. */
  suffices(claim: PersistentVolumeClaim, { provisioner, metadata }: StorageClass, node: Node): boolean {
    const size = claim.spec?.resources?.requests?.storage;
    if (size === undefined || !this.drivers.get(provisioner)?.spec.storageCapacity) return true;
    const wanted = Quantity.parse(size);
    return this.capacities
      .list()
      .some(
        (offer) =>
          offer.storageClassName === metadata.name && isReachable(offer, node) && isEnough(offer, wanted),
      );
  }
}

/** Without a topology it is for no node. */
const isReachable = ({ nodeTopology }: CSIStorageCapacity, { metadata }: Node): boolean =>
  nodeTopology !== undefined && selectorOf(nodeTopology).matches(metadata.labels ?? {});

/** The largest volume counts, where it is said. */
function isEnough({ capacity, maximumVolumeSize }: CSIStorageCapacity, wanted: Quantity): boolean {
  const limit = maximumVolumeSize ?? capacity;
  return limit !== undefined && Quantity.parse(limit).compare(wanted) >= 0;
}
