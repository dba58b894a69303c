import type {
  CSINode,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
  VolumeAttributesClass,
} from '@tinkernetes/api';
import { Quantity } from '@tinkernetes/apimachinery';
import type { CreateVolumeRequest, Topology, Volume, VolumeCapability } from '@tinkernetes/csi';
import { driverName } from './plugin';

/** Parameters of a class with this prefix are the provisioner's, not the driver's. */
const ownPrefix = 'csi.storage.k8s.io/';
const ownParameters: ReadonlySet<string> = new Set([
  'fstype',
  ...[
    'secret',
    'provisioner-secret',
    'controller-publish-secret',
    'node-stage-secret',
    'node-publish-secret',
    'controller-expand-secret',
    'node-expand-secret',
  ].flatMap((secret) => [`${secret}-name`, `${secret}-namespace`]),
]);

const accessModes: Readonly<Record<string, NonNullable<VolumeCapability['accessMode']>['mode']>> = {
  ReadWriteOnce: 'SINGLE_NODE_WRITER',
  ReadOnlyMany: 'MULTI_NODE_READER_ONLY',
  ReadWriteMany: 'MULTI_NODE_MULTI_WRITER',
  ReadWriteOncePod: 'SINGLE_NODE_WRITER',
};

export const capabilityOf = (
  spec: Pick<PersistentVolume['spec'], 'volumeMode' | 'mountOptions'>,
  mode: string,
  fsType = '',
): VolumeCapability => ({
  accessMode: { mode: accessModes[mode] ?? 'UNKNOWN' },
  ...(spec.volumeMode === 'Block'
    ? { block: {} }
    : { mount: { fsType, mountFlags: spec.mountOptions ?? [] } }),
});

export const bytesOf = (quantity: string | number | undefined): number =>
  Quantity.tryParse(quantity)?.value() ?? 0;

export interface ProvisionFacts {
  claim: PersistentVolumeClaim;
  storageClass: StorageClass;
  attributes: VolumeAttributesClass | undefined;
  /** The node that the scheduler chose, and what the driver says of it. */
  node: Node | undefined;
  csiNode: CSINode | undefined;
}

/** What the driver is asked for. Source: kubernetes-csi/external-provisioner. */
export function createRequest({
  claim,
  storageClass,
  attributes,
  node,
  csiNode,
}: ProvisionFacts): CreateVolumeRequest {
  const { spec } = claim;
  const limit = bytesOf(spec.resources?.limits?.['storage']);
  const place = placeOf(node, csiNode);
  return {
    name: volumeNameOf(claim),
    capacityRange: {
      requiredBytes: bytesOf(spec.resources?.requests?.['storage']),
      ...(limit > 0 ? { limitBytes: limit } : {}),
    },
    volumeCapabilities: (spec.accessModes ?? []).map((mode) =>
      capabilityOf(
        { volumeMode: spec.volumeMode, mountOptions: storageClass.mountOptions },
        mode,
        storageClass.parameters?.[`${ownPrefix}fstype`],
      ),
    ),
    parameters: driverParameters(storageClass),
    mutableParameters: attributes?.parameters ?? {},
    ...(place ? { accessibilityRequirements: { requisite: [place], preferred: [place] } } : {}),
  };
}

/** Throws for a parameter that looks like the provisioner's and is not. Source: removePrefixedParameters. */
function driverParameters({ parameters = {} }: StorageClass): Record<string, string> {
  const names = Object.keys(parameters).filter((name) => name.startsWith(ownPrefix));
  const unknown = names.find((name) => !ownParameters.has(name.slice(ownPrefix.length)));
  if (unknown !== undefined)
    throw new Error(
      `failed to strip CSI Parameters of prefixed keys: found unknown parameter key "${unknown}" with reserved namespace ${ownPrefix}`,
    );
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => !names.includes(name)));
}

export const volumeNameOf = ({ metadata }: PersistentVolumeClaim): string => `pvc-${metadata.uid}`;

/** The node's labels that the driver's topology is made of. */
function placeOf(node: Node | undefined, csiNode: CSINode | undefined): Topology | undefined {
  const keys = csiNode?.spec.drivers.find(({ name }) => name === driverName)?.topologyKeys ?? [];
  const labels = node?.metadata.labels ?? {};
  const segments = Object.fromEntries(keys.flatMap((key) => (labels[key] ? [[key, labels[key]]] : [])));
  return Object.keys(segments).length > 0 ? { segments } : undefined;
}

/** The PersistentVolume for what the driver has made. */
export function volumeObject(
  { claim, storageClass, attributes }: ProvisionFacts,
  volume: Volume,
): PersistentVolume {
  const { namespace, name, uid } = claim.metadata;
  const isBlock = claim.spec.volumeMode === 'Block';
  const fsType = isBlock ? undefined : storageClass.parameters?.[`${ownPrefix}fstype`];
  // A driver that does not know its volume's size says 0.
  const bytes = volume.capacityBytes || bytesOf(claim.spec.resources?.requests?.['storage']);
  const topologies = volume.accessibleTopology ?? [];
  return {
    metadata: {
      name: volumeNameOf(claim),
      annotations: { 'pv.kubernetes.io/provisioned-by': driverName },
      finalizers: [provisionerFinalizer],
    },
    spec: {
      accessModes: claim.spec.accessModes,
      capacity: { storage: Quantity.ofValue(bytes, 'BinarySI').toString() },
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid },
      csi: {
        driver: driverName,
        volumeHandle: volume.volumeId,
        ...(fsType ? { fsType } : {}),
        volumeAttributes: volume.volumeContext,
      },
      ...(storageClass.mountOptions ? { mountOptions: storageClass.mountOptions } : {}),
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
      storageClassName: storageClass.metadata.name,
      volumeMode: claim.spec.volumeMode,
      ...(attributes ? { volumeAttributesClassName: attributes.metadata.name } : {}),
      ...(topologies.length > 0
        ? {
            nodeAffinity: {
              required: {
                nodeSelectorTerms: topologies.map(({ segments }) => ({
                  matchExpressions: Object.entries(segments).map(([key, value]) => ({
                    key,
                    operator: 'In' as const,
                    values: [value],
                  })),
                })),
              },
            },
          }
        : {}),
    },
  };
}

export const provisionerFinalizer = 'external-provisioner.volume.kubernetes.io/finalizer';
