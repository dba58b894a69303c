import { PersistentVolumeClaims, type Pod } from '@tinkernetes/api';
import { unschedulable } from '../framework/status';
import type { PluginFactory } from '../framework/types';
import { claimsOf } from './pod-claims';

const name = 'VolumeRestrictions';

/** A claim with ReadWriteOncePod is for one Pod in the whole cluster. */
export const volumeRestrictions: PluginFactory = {
  name,
  create(_args, handle) {
    const claims = handle.informers.for(PersistentVolumeClaims).lister;
    const exclusiveClaims = (pod: Pod): string[] =>
      claimsOf(pod)
        .filter((use) =>
          claims.get(use.name, pod.metadata.namespace)?.spec?.accessModes?.includes('ReadWriteOncePod'),
        )
        .map((use) => use.name);
    const shares = (pod: Pod, other: Pod | undefined, wanted: readonly string[]) =>
      other?.metadata.namespace === pod.metadata.namespace &&
      claimsOf(other as Pod).some((use) => wanted.includes(use.name));
    return {
      name,
      events: [
        {
          resource: 'AssignedPod',
          actions: ['Delete'],
          hint: (pod, { before }) => shares(pod, before as Pod | undefined, exclusiveClaims(pod)),
        },
        { resource: 'PersistentVolumeClaim', actions: ['Add', 'Update'] },
      ],
      preFilter(_state, pod, snapshot) {
        const wanted = exclusiveClaims(pod);
        if (wanted.length === 0) return { status: { code: 'Skip', reasons: [] } };
        const inUse = snapshot.nodes.some(({ pods }) => pods.some((other) => shares(pod, other.pod, wanted)));
        const reason =
          'node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode';
        return inUse ? { status: unschedulable(reason) } : undefined;
      },
    };
  },
};
