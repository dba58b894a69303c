import type { PodSpec, Volume, VolumeProjection } from '@tinkernetes/api';
import { child, index } from '@tinkernetes/apimachinery';
import { claimSpecWarnings } from '../persistentvolumeclaim/warnings';

/** Volume sources that are going away: field → how it is reported and since when. */
const deprecatedVolumes = {
  photonPersistentDisk: ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  gitRepo: ['gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  scaleIO: ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  flocker: ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  storageos: ['storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  quobyte: ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  glusterfs: ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  cephfs: ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  rbd: ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
} as const;

/** Sources that do nothing any more, and files that lie in each other's way. */
export function volumeWarnings({ volumes = [] }: PodSpec, path: string): string[] {
  const old = volumes.flatMap((volume, i) => {
    const at = index(child(path, 'volumes'), i);
    const template = volume.ephemeral?.volumeClaimTemplate;
    return [
      ...(Object.keys(deprecatedVolumes) as Array<keyof typeof deprecatedVolumes>)
        .filter((name) => volume[name])
        .map((name) => `${at}.${deprecatedVolumes[name][0]}: ${deprecatedVolumes[name][1]}`),
      ...(template ? claimSpecWarnings(template.spec, `${at}.ephemeral.volumeClaimTemplate.spec`) : []),
    ];
  });
  return [...old, ...volumes.flatMap(overlapWarnings)];
}

interface File {
  path: string;
  /** What the file comes from, in volumes of several sources. */
  source?: string;
}
const isInside = (path: string, other: string) => `${path}/`.startsWith(`${other}/`);
const shown = ({ path, source }: File) =>
  source === undefined ? JSON.stringify(path) : `${JSON.stringify(path)} (${source})`;

/** Each file that lies in or around one before it. Source: pkg/api/pod.warningsForOverlappingVirtualPaths. */
function overlaps(files: readonly File[]): string[] {
  const trimmed = files
    .map((file) => ({ ...file, path: file.path.replace(/\/+$/, '') }))
    .filter(({ path }) => path !== '');
  return trimmed.flatMap((file, i) =>
    trimmed
      .slice(0, i)
      .filter((other) => isInside(file.path, other.path) || isInside(other.path, file.path))
      .map((other) => `overlapping paths: ${shown(file)} with ${shown(other)}`),
  );
}

function overlapWarnings({ name, configMap, secret, downwardAPI, projected }: Volume): string[] {
  const parts: Array<[string, File[] | undefined]> = [
    [`ConfigMap ${JSON.stringify(configMap?.name)}`, configMap?.items],
    [`Secret ${JSON.stringify(secret?.secretName)}`, secret?.items],
    ['DownwardAPI', downwardAPI?.items],
  ];
  return [
    ...parts.flatMap(([what, items = []]) =>
      overlaps(items.map(({ path }) => ({ path }))).map((text) => `volume "${name}" (${what}): ${text}`),
    ),
    ...(projected ? projectedWarnings(name, projected.sources ?? []) : []),
  ];
}

function projectedWarnings(name: string, sources: readonly VolumeProjection[]): string[] {
  const empty = `volume "${name}" (Projected) has no sources provided`;
  const taken: File[] = [];
  return sources.flatMap((source) => {
    if (Object.keys(source).length === 0) return [empty];
    const files = filesOf(source);
    const before = overlaps(taken).length;
    taken.push(...files);
    return overlaps(taken)
      .slice(before)
      .map((text) => `volume "${name}" (Projected): ${text}`);
  });
}

function filesOf({ configMap, secret, downwardAPI, serviceAccountToken }: VolumeProjection): File[] {
  const from = (items: ReadonlyArray<{ path: string }> | undefined, source: string) =>
    (items ?? []).map(({ path }) => ({ path, source }));
  if (configMap?.items) return from(configMap.items, `ConfigMap ${JSON.stringify(configMap.name)}`);
  if (secret?.items) return from(secret.items, `Secret ${JSON.stringify(secret.name)}`);
  if (downwardAPI?.items) return from(downwardAPI.items, 'DownwardAPI');
  return serviceAccountToken ? from([serviceAccountToken], 'ServiceAccountToken') : [];
}
