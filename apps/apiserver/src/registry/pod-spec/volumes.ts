import type { KeyToPath, ProjectedVolumeSource, Volume } from '@tinkernetes/api';
import {
  child,
  duplicate,
  forbidden,
  invalid,
  isDns1123Label,
  Quantity,
  required,
} from '@tinkernetes/apimachinery';
import { check, eachOf, oneOf, requireValue } from '../rules';
import type { Errors } from '../rules';
import { validateFieldRef, validateResourceFieldRef, volumeFieldPaths } from './field-references';
import { localNonReservedPath, noBacksteps } from './paths';

const fileModeMessage = 'must be a number between 0 and 0777 (octal), both inclusive';
const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

/** The volumes that are right, by name, and what is wrong with the others. Source: core/validation.ValidateVolumes. */
export function validateVolumes(
  volumes: readonly Volume[] | undefined,
  path: string,
): { byName: Map<string, Volume>; errors: Errors } {
  const byName = new Map<string, Volume>();
  const errors = eachOf(path, volumes, (volume, at) => {
    const own = validateSource(volume, at);
    if (!volume.name) own.push(required(child(at, 'name')));
    else own.push(...check(child(at, 'name'), volume.name, isDns1123Label));
    if (byName.has(volume.name)) own.push(duplicate(child(at, 'name'), volume.name));
    if (own.length === 0) byName.set(volume.name, volume);
    return own;
  });
  return { byName, errors };
}

type SourceName = Exclude<keyof Volume, 'name'>;
type SourceRules = { [K in SourceName]?: (source: NonNullable<Volume[K]>, path: string) => Errors };

const all =
  (...names: string[]) =>
  (source: object, path: string): Errors =>
    names.flatMap((name) => requireValue(child(path, name), (source as Record<string, unknown>)[name]));

/** In the order in which upstream looks at them. */
const sourceRules: SourceRules = {
  emptyDir: (source, path) => {
    const limit = Quantity.tryParse(source.sizeLimit);
    return limit && limit.sign < 0
      ? [forbidden(child(path, 'sizeLimit'), 'SizeLimit field must be a valid resource quantity')]
      : [];
  },
  hostPath: (source, path) =>
    source.path
      ? [
          ...noBacksteps(child(path, 'path'), source.path),
          ...oneOf(child(path, 'type'), source.type, hostPathTypes),
        ]
      : [required(child(path, 'path'))],
  gitRepo: all('repository'),
  gcePersistentDisk: all('pdName'),
  awsElasticBlockStore: all('volumeID'),
  secret: (source, path) => [
    ...requireValue(child(path, 'secretName'), source.secretName),
    ...validateFiles(source, path),
  ],
  nfs: (source, path) => [
    ...requireValue(child(path, 'server'), source.server),
    ...requireValue(child(path, 'path'), source.path),
    ...(source.path && !source.path.startsWith('/')
      ? [invalid(child(path, 'path'), source.path, 'must be an absolute path')]
      : []),
  ],
  iscsi: all('targetPortal', 'iqn'),
  glusterfs: all('endpoints', 'path'),
  flocker: () => [],
  persistentVolumeClaim: all('claimName'),
  rbd: all('monitors', 'image'),
  cinder: all('volumeID'),
  cephfs: all('monitors'),
  quobyte: all('registry', 'volume'),
  downwardAPI: (source, path) => [
    ...fileMode(child(path, 'defaultMode'), source.defaultMode),
    ...downwardItems(source.items, path),
  ],
  fc: () => [],
  flexVolume: all('driver'),
  configMap: (source, path) => [
    ...requireValue(child(path, 'name'), source.name),
    ...validateFiles(source, path),
  ],
  azureFile: all('secretName', 'shareName'),
  vsphereVolume: all('volumePath'),
  photonPersistentDisk: all('pdID'),
  portworxVolume: all('volumeID'),
  azureDisk: all('diskName', 'diskURI'),
  storageos: () => [],
  scaleIO: all('gateway', 'system', 'volumeName'),
  projected: validateProjected,
  csi: all('driver'),
  ephemeral: (source, path) =>
    source.volumeClaimTemplate ? [] : [required(child(path, 'volumeClaimTemplate'))],
  image: (source, path) => [
    ...requireValue(child(path, 'reference'), source.reference),
    ...oneOf(child(path, 'pullPolicy'), source.pullPolicy, ['Always', 'IfNotPresent', 'Never']),
  ],
};

function validateSource(volume: Volume, path: string): Errors {
  const names = (Object.keys(sourceRules) as SourceName[]).filter((name) => volume[name] !== undefined);
  if (names.length === 0) return [required(path, 'must specify a volume type')];
  return names.flatMap((name, i) => {
    const at = child(path, name);
    if (i > 0) return [forbidden(at, 'may not specify more than 1 volume type')];
    const rule = sourceRules[name] as (source: unknown, path: string) => Errors;
    return rule(volume[name], at);
  });
}

function fileMode(path: string, mode: number | undefined): Errors {
  return mode !== undefined && (mode < 0 || mode > 0o777) ? [invalid(path, mode, fileModeMessage)] : [];
}

function validateFiles(source: { defaultMode?: number; items?: KeyToPath[] }, path: string): Errors {
  return [
    ...fileMode(child(path, 'defaultMode'), source.defaultMode),
    ...eachOf(child(path, 'items'), source.items, validateKeyToPath),
  ];
}

function validateKeyToPath(item: KeyToPath, path: string): Errors {
  return [
    ...requireValue(child(path, 'key'), item.key),
    ...(item.path ? localNonReservedPath(child(path, 'path'), item.path) : [required(child(path, 'path'))]),
    ...fileMode(child(path, 'mode'), item.mode),
  ];
}

function downwardItems(items: NonNullable<Volume['downwardAPI']>['items'], path: string): Errors {
  return (items ?? []).flatMap((item) => {
    const errors = item.path
      ? localNonReservedPath(child(path, 'path'), item.path)
      : [required(child(path, 'path'))];
    if (item.fieldRef) {
      errors.push(...validateFieldRef(item.fieldRef, child(path, 'fieldRef'), volumeFieldPaths));
      if (item.resourceFieldRef) {
        errors.push(
          invalid(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'),
        );
      }
    } else if (item.resourceFieldRef) {
      errors.push(...validateResourceFieldRef(item.resourceFieldRef, child(path, 'resourceFieldRef'), true));
    } else {
      errors.push(required(path, 'one of fieldRef and resourceFieldRef is required'));
    }
    return [...errors, ...fileMode(child(path, 'mode'), item.mode)];
  });
}

const tokenSecondsMin = 600;

function validateProjected(source: ProjectedVolumeSource, path: string): Errors {
  const sources = child(path, 'sources');
  return [
    ...fileMode(child(path, 'defaultMode'), source.defaultMode),
    ...eachOf(sources, source.sources, (projection, at) => {
      const names = Object.entries(projection).filter(([, value]) => value !== undefined);
      const errors = names
        .slice(1)
        .map(([name]) => forbidden(child(at, name), 'may not specify more than 1 volume type per source'));
      if (names.length === 0) errors.push(required(at, 'must specify a volume type'));
      const { secret, configMap, downwardAPI, serviceAccountToken: token } = projection;
      if (secret) {
        errors.push(
          ...requireValue(child(child(at, 'secret'), 'name'), secret.name),
          ...eachOf(child(at, 'secret', 'items'), secret.items, validateKeyToPath),
        );
      }
      if (configMap) {
        errors.push(
          ...requireValue(child(at, 'configMap', 'name'), configMap.name),
          ...eachOf(child(at, 'configMap', 'items'), configMap.items, validateKeyToPath),
        );
      }
      if (downwardAPI) errors.push(...downwardItems(downwardAPI.items, child(at, 'downwardAPI')));
      if (token) errors.push(...validateToken(token, child(at, 'serviceAccountToken')));
      return errors;
    }),
  ];
}

function validateToken(token: { path: string; expirationSeconds?: number }, path: string): Errors {
  const errors: Errors = [];
  const seconds = token.expirationSeconds ?? tokenSecondsMin;
  const at = child(path, 'expirationSeconds');
  if (seconds < tokenSecondsMin)
    errors.push(invalid(at, seconds, 'may not specify a duration less than 10 minutes'));
  if (seconds > 2 ** 32)
    errors.push(invalid(at, seconds, 'may not specify a duration larger than 2^32 seconds'));
  if (!token.path) errors.push(required(child(path, 'path')));
  else errors.push(...localNonReservedPath(child(path, 'path'), token.path));
  return errors;
}
