import {
  CSINodes,
  PersistentVolumeClaims,
  PersistentVolumes,
  StorageClasses,
  VolumeAttachments,
  type PersistentVolume,
  type Pod,
} from '@tinkernetes/api';
import type { Lister, SharedInformerFactory } from '@tinkernetes/informers';
import type { NodeInfo } from '../cache/node-info';
import { onePerScheduler } from '../framework/shared';
import { skip, unschedulable } from '../framework/status';
import type { PluginFactory } from '../framework/types';
import { claimsOf, classOf } from './pod-claims';

const name = 'NodeVolumeLimits';
const attachedIndex = 'attachedNode';

/** A CSI driver can attach only so many volumes to a node; each counts once, however many Pods use it. */
export const nodeVolumeLimits: PluginFactory = {
  name,
  create(_args, handle) {
    const volumes = csiVolumes(handle);
    const csiNodes = handle.informers.for(CSINodes).lister;
    return {
      name,
      events: [
        { resource: 'CSINode', actions: ['Add', 'Update'] },
        { resource: 'AssignedPod', actions: ['Delete'] },
        { resource: 'PersistentVolumeClaim', actions: ['Add'] },
        { resource: 'PersistentVolume', actions: ['Add'] },
        { resource: 'VolumeAttachment', actions: ['Delete'] },
      ],
      preFilter: (_state, pod) => (claimsOf(pod).length === 0 ? { status: skip } : undefined),
      filter(_state, pod, node) {
        const limits = new Map(
          (csiNodes.get(node.name)?.spec?.drivers ?? []).flatMap(({ name: driver, allocatable }) =>
            allocatable?.count === undefined ? [] : [[driver, allocatable.count] as const],
          ),
        );
        if (limits.size === 0) return undefined;
        const attached = volumes.attachedTo(node);
        const added = [...volumes.of(pod)].filter(([id]) => !attached.has(id));
        for (const [, driver] of added) {
          const count = (all: Iterable<readonly [string, string]>) =>
            [...all].filter(([, other]) => other === driver).length;
          if (count(attached) + count(added) > (limits.get(driver) ?? Infinity))
            return unschedulable('node(s) exceed max volume count');
        }
        return undefined;
      },
    };
  },
};

/** Which CSI volumes are used where: an identity for each, with its driver. */
class CsiVolumes {
  private readonly claims;
  private readonly volumes: Lister<PersistentVolume>;
  private readonly classes;
  private readonly attachments;

  constructor(informers: SharedInformerFactory) {
    this.claims = informers.for(PersistentVolumeClaims).lister;
    this.volumes = informers.for(PersistentVolumes).lister;
    this.classes = informers.for(StorageClasses).lister;
    const attachments = informers.for(VolumeAttachments);
    attachments.addIndex(attachedIndex, ({ spec }) => [spec.nodeName]);
    this.attachments = attachments.lister;
  }

  of(pod: Pod): Map<string, string> {
    const { namespace = '' } = pod.metadata;
    const found = new Map<string, string>();
    for (const use of claimsOf(pod)) {
      const claim = this.claims.get(use.name, namespace);
      const volumeName = claim?.spec?.volumeName;
      if (volumeName) this.add(found, volumeName);
      else if (claim) {
        // Not provisioned yet; it will be one of that driver's.
        const provisioner = this.classes.get(classOf(claim))?.provisioner;
        if (provisioner) found.set(`${provisioner}^claim^${namespace}/${use.name}`, provisioner);
      }
    }
    return found;
  }

  /** Used by Pods there, or attached although no Pod uses them (any more). */
  attachedTo(node: NodeInfo): Map<string, string> {
    const found = new Map(node.pods.flatMap(({ pod }) => [...this.of(pod)]));
    for (const { spec } of this.attachments.byIndex(attachedIndex, node.name))
      this.add(found, spec.source.persistentVolumeName ?? '');
    return found;
  }

  private add(found: Map<string, string>, volumeName: string): void {
    const csi = this.volumes.get(volumeName)?.spec?.csi;
    if (csi) found.set(`${csi.driver}^${csi.volumeHandle}`, csi.driver);
  }
}

const csiVolumes = onePerScheduler(({ informers }) => new CsiVolumes(informers));
