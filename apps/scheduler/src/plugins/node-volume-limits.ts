import { CSINodes, PersistentVolumeClaims, PersistentVolumes, type Pod } from '@tinkernetes/api';
import type { NodeInfo } from '../cache/node-info';
import { unschedulable } from '../framework/status';
import type { PluginFactory } from '../framework/types';
import { claimsOf } from './pod-claims';

const name = 'NodeVolumeLimits';

/** A CSI driver can attach only so many volumes to a node; each counts once, however many Pods use it. */
export const nodeVolumeLimits: PluginFactory = {
  name,
  create(_args, { informers }) {
    const claims = informers.for(PersistentVolumeClaims).lister;
    const volumes = informers.for(PersistentVolumes).lister;
    const csiNodes = informers.for(CSINodes).lister;
    /** `driver handle` of each CSI volume that the Pod uses. */
    const volumesOf = (pod: Pod): string[] =>
      claimsOf(pod).flatMap((use) => {
        const csi = volumes.get(claims.get(use.name, pod.metadata.namespace)?.spec?.volumeName ?? '')?.spec
          ?.csi;
        return csi ? [`${csi.driver} ${csi.volumeHandle}`] : [];
      });
    const driverOf = (volume: string) => volume.slice(0, volume.indexOf(' '));
    const attachedTo = (node: NodeInfo) => new Set(node.pods.flatMap(({ pod }) => volumesOf(pod)));
    return {
      name,
      events: [
        { resource: 'CSINode', actions: ['Add', 'Update'] },
        { resource: 'AssignedPod', actions: ['Delete'] },
        { resource: 'PersistentVolumeClaim', actions: ['Add'] },
      ],
      preFilter: (_state, pod) =>
        claimsOf(pod).length === 0 ? { status: { code: 'Skip', reasons: [] } } : undefined,
      filter(_state, pod, node) {
        const wanted = volumesOf(pod);
        if (wanted.length === 0) return undefined;
        const all = attachedTo(node);
        for (const volume of wanted) all.add(volume);
        for (const { name: driver, allocatable } of csiNodes.get(node.name)?.spec?.drivers ?? []) {
          const isWanted = wanted.some((volume) => driverOf(volume) === driver);
          const used = [...all].filter((volume) => driverOf(volume) === driver).length;
          if (isWanted && allocatable?.count !== undefined && used > allocatable.count)
            return unschedulable('node(s) exceed max volume count');
        }
        return undefined;
      },
    };
  },
};
