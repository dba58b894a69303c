import { PersistentVolumeClaims, type Pod } from '@tinkernetes/api';
import type { StateData } from '../framework/cycle-state';
import { skip, unschedulable } from '../framework/status';
import type { PluginFactory } from '../framework/types';
import { shareDisk, usesDisks } from './disk-conflicts';
import { claimsOf } from './pod-claims';

const name = 'VolumeRestrictions';
const reason =
  'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod';

/** How many Pods use the exclusive claims that the Pod wants. */
class ClaimState implements StateData {
  constructor(
    readonly wanted: readonly string[],
    public users: number,
  ) {}

  clone(): ClaimState {
    return new ClaimState(this.wanted, this.users);
  }
}

/** A claim with ReadWriteOncePod is for one Pod in the whole cluster; some disks are for one Pod on a node. */
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
    const uses = (other: Pod | undefined, pod: Pod, wanted: readonly string[]): boolean =>
      other !== undefined &&
      other.metadata.namespace === pod.metadata.namespace &&
      claimsOf(other).some((use) => wanted.includes(use.name));
    const count = (state: ClaimState | undefined, pod: Pod, { other, by }: { other: Pod; by: number }) => {
      if (state && uses(other, pod, state.wanted)) state.users += by;
    };
    return {
      name,
      events: [
        {
          resource: 'AssignedPod',
          actions: ['Delete'],
          hint: (pod, { before }) =>
            uses(before as Pod | undefined, pod, exclusiveClaims(pod)) ||
            (before !== undefined && shareDisk(pod, before as Pod)),
        },
        { resource: 'PersistentVolumeClaim', actions: ['Add', 'Update'] },
        { resource: 'Node', actions: ['Add'] },
      ],
      preFilter(state, pod, snapshot) {
        const wanted = exclusiveClaims(pod);
        if (wanted.length === 0 && !usesDisks(pod)) return { status: skip };
        const users = snapshot.nodes.flatMap(({ pods }) =>
          pods.filter((other) => uses(other.pod, pod, wanted)),
        );
        state.write(name, new ClaimState(wanted, users.length));
        return undefined;
      },
      addPod: (state, pod, { added }) => count(state.read(name), pod, { other: added.pod, by: 1 }),
      removePod: (state, pod, { removed }) => count(state.read(name), pod, { other: removed.pod, by: -1 }),
      filter(state, pod, node) {
        if (usesDisks(pod) && node.pods.some((other) => shareDisk(pod, other.pod)))
          return unschedulable('node(s) had no available disk');
        return (state.read<ClaimState>(name)?.users ?? 0) > 0 ? unschedulable(reason) : undefined;
      },
    };
  },
};
