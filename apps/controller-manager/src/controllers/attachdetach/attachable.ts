import { createHash } from 'node:crypto';
import type { CSIDriver, Node, PersistentVolume, Pod, VolumeAttachment } from '@tinkernetes/api';
import { isConditionTrue, isPodTerminal } from '@tinkernetes/apimachinery';

const outOfServiceTaint = 'node.kubernetes.io/out-of-service';

/** A volume that has to be attached to a node before it can be used there. */
export interface AttachableVolume {
  volume: PersistentVolume;
  driver: string;
  handle: string;
  /** `kubernetes.io/csi/DRIVER^HANDLE`: as Node statuses name it. */
  uniqueName: string;
}

/** undefined: the kubelet needs nobody's help. A driver without a CSIDriver object has to attach. */
export function attachable(
  volume: PersistentVolume,
  driverOf: (name: string) => CSIDriver | undefined,
): AttachableVolume | undefined {
  const { driver, volumeHandle: handle } = volume.spec.csi ?? {};
  if (!driver || !handle || driverOf(driver)?.spec.attachRequired === false) return undefined;
  return { volume, driver, handle, uniqueName: `kubernetes.io/csi/${driver}^${handle}` };
}

/** The name of the VolumeAttachment. Source: pkg/volume/csi/csi_attacher.go getAttachmentName. */
export const attachmentName = ({ driver, handle }: AttachableVolume, nodeName: string): string =>
  `csi-${createHash('sha256')
    .update(handle + driver + nodeName)
    .digest('hex')}`;

/** Whether a Pod still needs its volumes on its node. */
export function usesVolumes(pod: Pod): boolean {
  if (isPodTerminal(pod)) return false;
  if (!pod.metadata.deletionTimestamp) return true;
  const {
    containerStatuses = [],
    initContainerStatuses = [],
    ephemeralContainerStatuses = [],
  } = pod.status ?? {};
  const containers = [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses];
  return containers.length === 0 || containers.some(({ state }) => !state?.terminated && !state?.waiting);
}

/** Only one node may have it. */
export const isExclusive = ({ volume }: AttachableVolume): boolean => {
  const modes = volume.spec.accessModes ?? [];
  return modes.length > 0 && modes.every((mode) => mode === 'ReadWriteOnce' || mode === 'ReadWriteOncePod');
};

/** The last two: by force, for that reason. */
export type DetachVerdict = 'now' | 'wait' | 'out-of-service' | 'timeout';

/**
 * Whether a volume that nobody needs on a node may be taken from it: when the kubelet no longer uses it, when the node is
 * declared out of service, or when an unhealthy node has not let it go for a time.
 */
export function mayDetach(
  uniqueName: string,
  node: Node | undefined,
  { waitedMs, maxWaitMs }: { waitedMs: number; maxWaitMs: number | undefined },
): DetachVerdict {
  if (!node || !node.status?.volumesInUse?.includes(uniqueName)) return 'now';
  if (node.spec?.taints?.some(({ key }) => key === outOfServiceTaint)) return 'out-of-service';
  const isHealthy = isConditionTrue(node.status.conditions, 'Ready');
  return !isHealthy && maxWaitMs !== undefined && waitedMs >= maxWaitMs ? 'timeout' : 'wait';
}

/** Why a volume can't be attached to a second node, in upstream's words. */
export function multiAttachMessage(volume: string, pod: Pod, others: readonly Pod[]): string {
  const prefix = `Multi-Attach error for volume "${volume}"`;
  if (others.length === 0)
    return `${prefix} Volume is already exclusively attached to one node and can't be attached to another`;
  const own = others.filter(({ metadata }) => metadata.namespace === pod.metadata.namespace);
  const foreign = others.length - own.length;
  const names = own.map(({ metadata }) => metadata.name).join(', ');
  if (own.length === 0)
    return `${prefix} Volume is already used by ${foreign} pod(s) in different namespaces`;
  const more = foreign > 0 ? ` and ${foreign} pod(s) in different namespaces` : '';
  return `${prefix} Volume is already used by pod(s) ${names}${more}`;
}

/** What the Node's status lists as attached, in order of names. */
export const attachedNames = (
  attachments: readonly VolumeAttachment[],
  uniqueNameOf: (attachment: VolumeAttachment) => string | undefined,
): string[] =>
  attachments
    .filter(({ metadata, status }) => status?.attached && !metadata.deletionTimestamp)
    .flatMap((attachment) => uniqueNameOf(attachment) ?? [])
    .sort();
