import { PersistentVolumeClaims, PersistentVolumes, type PersistentVolume } from '@tinkernetes/api';
import { unresolvable } from '../framework/status';
import type { PluginFactory } from '../framework/types';
import { claimsOf } from './pod-claims';

const name = 'VolumeZone';
/** With the names that labels of old volumes have on newer nodes. */
const newNames: Readonly<Record<string, string>> = {
  'topology.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region': 'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
};
const keys = Object.keys(newNames);

/** Bound volumes with a zone or region label can be used there only; a label may list several, joined by `__`. */
export const volumeZone: PluginFactory = {
  name,
  create(_args, handle) {
    const claims = handle.informers.for(PersistentVolumeClaims).lister;
    const volumes = handle.informers.for(PersistentVolumes).lister;
    const allows = (
      { metadata: { labels = {} } }: PersistentVolume,
      nodeLabels: Readonly<Record<string, string>>,
    ) =>
      keys.every((key) => {
        const zones = labels[key]?.split('__');
        return !zones || zones.includes(nodeLabels[key] ?? nodeLabels[newNames[key] ?? ''] ?? '');
      });
    return {
      name,
      events: [
        { resource: 'Node', actions: ['Add', 'UpdateNodeLabel'] },
        { resource: 'PersistentVolumeClaim', actions: ['Add', 'Update'] },
        { resource: 'PersistentVolume', actions: ['Add', 'Update'] },
      ],
      preFilter: (_state, pod) =>
        claimsOf(pod).length === 0 ? { status: { code: 'Skip', reasons: [] } } : undefined,
      filter(_state, pod, { labels }) {
        const isZonal = keys.some((key) => labels[key] !== undefined);
        if (!isZonal) return undefined;
        for (const use of claimsOf(pod)) {
          const volume = volumes.get(claims.get(use.name, pod.metadata.namespace)?.spec?.volumeName ?? '');
          if (volume && !allows(volume, labels)) return unresolvable('node(s) had no available volume zone');
        }
        return undefined;
      },
    };
  },
};
