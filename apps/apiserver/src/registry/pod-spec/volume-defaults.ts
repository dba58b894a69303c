import type { ProjectedVolumeSource, Volume } from '@tinkernetes/api';
import { fill, mapList, mapMember } from '../fill';
import { defaultPullPolicy } from './image-defaults';
import { defaultResources } from './resource-defaults';

const fileMode = 0o644;
const tokenSeconds = 3600;

const fieldRefVersion = <T extends { fieldRef?: { apiVersion?: string; fieldPath: string } }>(item: T): T =>
  mapMember(item, 'fieldRef', (ref) =>
    fill(ref as NonNullable<T['fieldRef']>, { apiVersion: 'v1' } as never),
  );

const withDivisor = <T extends { resourceFieldRef?: { divisor?: string | number; resource: string } }>(
  item: T,
): T =>
  mapMember(item, 'resourceFieldRef', (ref) =>
    fill(ref as NonNullable<T['resourceFieldRef']>, { divisor: '0' } as never),
  );

/** Defaults of references to Pod fields, in volumes and environment variables alike. */
export const defaultReference = <
  T extends {
    fieldRef?: { apiVersion?: string; fieldPath: string };
    resourceFieldRef?: { divisor?: string | number; resource: string };
  },
>(
  item: T,
): T => withDivisor(fieldRefVersion(item));

function defaultProjected(source: ProjectedVolumeSource): ProjectedVolumeSource {
  const sources = mapList(source.sources ?? [], (projection) => {
    const withToken = mapMember(projection, 'serviceAccountToken', (token) =>
      fill(token, { expirationSeconds: tokenSeconds }),
    );
    return mapMember(withToken, 'downwardAPI', (downward) =>
      mapMember(downward, 'items', (items) => mapList(items, defaultReference)),
    );
  });
  return fill(source.sources ? { ...source, sources } : source, { defaultMode: fileMode });
}

/** Source: k8s.io/kubernetes/pkg/apis/core/v1 defaults of Volume and the volume sources. */
export function defaultVolume(volume: Volume): Volume {
  const { name: _name, ...sources } = volume;
  if (Object.values(sources).every((source) => source === undefined)) return { ...volume, emptyDir: {} };
  let result = volume;
  result = mapMember(result, 'secret', (s) => fill(s, { defaultMode: fileMode }));
  result = mapMember(result, 'configMap', (s) => fill(s, { defaultMode: fileMode }));
  result = mapMember(result, 'downwardAPI', (s) =>
    fill(
      mapMember(s, 'items', (items) => mapList(items, defaultReference)),
      { defaultMode: fileMode },
    ),
  );
  result = mapMember(result, 'projected', defaultProjected);
  result = mapMember(result, 'hostPath', (s) => fill(s, { type: '' }));
  result = mapMember(result, 'iscsi', (s) => fill(s, { iscsiInterface: 'default' }));
  result = mapMember(result, 'rbd', (s) =>
    fill(s, { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' }),
  );
  result = mapMember(result, 'azureDisk', (s) =>
    fill(s, { cachingMode: 'ReadWrite', kind: 'Shared', fsType: 'ext4', readOnly: false }),
  );
  result = mapMember(result, 'scaleIO', (s) => fill(s, { storageMode: 'ThinProvisioned', fsType: 'xfs' }));
  result = mapMember(result, 'image', (s) => fill(s, { pullPolicy: defaultPullPolicy(s.reference ?? '') }));
  return mapMember(result, 'ephemeral', (s) =>
    mapMember(s, 'volumeClaimTemplate', (template) =>
      mapMember(template, 'spec', (spec) =>
        fill(mapMember(spec, 'resources', defaultResources), { volumeMode: 'Filesystem' }),
      ),
    ),
  );
}
