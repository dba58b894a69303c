import type { Volume } from '@tinkernetes/api';
import {
  child,
  forbidden,
  invalid,
  inclusiveRangeMessage,
  isDns1123Label,
  isDns1123Subdomain,
  mapKey,
  notSupported,
  Quantity,
  required,
  tooLong,
  validateAnnotations,
  validateLabels,
} from '@tinkernetes/apimachinery';
import { validateClaimSpec } from '../core/persistentvolumeclaim/validate';
import { check, oneOf, requireName, requireValue, within } from '../rules';
import type { Errors } from '../rules';
import { localDescendingPath, noBacksteps } from './paths';
import { downwardItems, fileMode, validateFiles, validateProjected } from './volume-files';

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

export type SourceName = Exclude<keyof Volume, 'name'>;

export type SourceRules = { [K in SourceName]?: (source: NonNullable<Volume[K]>, path: string) => Errors };

const partition = (source: { partition?: number }, path: string): Errors =>
  (source.partition ?? 0) < 0 || (source.partition ?? 0) > 255
    ? [invalid(child(path, 'partition'), source.partition, inclusiveRangeMessage(1, 255))]
    : [];

const all =
  (...names: string[]) =>
  (source: object, path: string): Errors =>
    names.flatMap((name) => requireValue(child(path, name), (source as Record<string, unknown>)[name]));

/** In the order in which upstream looks at them; PersistentVolumes have most of them, too. */
export const sharedSourceRules = {
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
  gitRepo: (source, path) => [
    ...requireValue(child(path, 'repository'), source.repository),
    ...localDescendingPath(child(path, 'directory'), source.directory ?? ''),
  ],
  gcePersistentDisk: (source, path) => {
    const at = path.replace(/gcePersistentDisk$/, 'persistentDisk');
    return [...requireValue(child(at, 'pdName'), source.pdName), ...partition(source, at)];
  },
  awsElasticBlockStore: (source, path) => [
    ...requireValue(child(path, 'volumeID'), source.volumeID),
    ...partition(source, path),
  ],
  secret: (source, path) => [
    ...requireValue(child(path, 'secretName'), source.secretName),
    ...validateFiles(source, path),
  ],
  nfs: (source, path) => [
    ...requireValue(child(path, 'server'), source.server),
    ...requireValue(child(path, 'path'), source.path),
    ...(!source.path.startsWith('/')
      ? [invalid(child(path, 'path'), source.path, 'must be an absolute path')]
      : []),
  ],
  iscsi: (source, path) => [
    ...requireValue(child(path, 'targetPortal'), source.targetPortal),
    ...validateIqn(source.iqn, child(path, 'iqn')),
    ...(source.lun < 0 || source.lun > 255
      ? [invalid(child(path, 'lun'), source.lun, inclusiveRangeMessage(0, 255))]
      : []),
    ...((source.chapAuthDiscovery || source.chapAuthSession) && !source.secretRef
      ? [required(child(path, 'secretRef'))]
      : []),
    ...(source.initiatorName === undefined
      ? []
      : validateIqn(source.initiatorName, child(path, 'initiatorname'))),
  ],
  glusterfs: all('endpoints', 'path'),
  flocker: (source, path) => {
    const { datasetName = '', datasetUUID = '' } = source;
    if (!datasetName && !datasetUUID)
      return [required(path, 'one of datasetName and datasetUUID is required')];
    if (datasetName && datasetUUID)
      return [invalid(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously')];
    return datasetName.includes('/')
      ? [invalid(child(path, 'datasetName'), datasetName, "must not contain '/'")]
      : [];
  },
  persistentVolumeClaim: all('claimName'),
  rbd: (source, path) => [
    ...(source.monitors.length ? [] : [required(child(path, 'monitors'))]),
    ...requireValue(child(path, 'image'), source.image),
  ],
  cinder: (source, path) => [
    ...requireValue(child(path, 'volumeID'), source.volumeID),
    ...within(path, 'secretRef', source.secretRef, (ref, at) => requireValue(child(at, 'name'), ref.name)),
  ],
  cephfs: (source, path) => (source.monitors.length ? [] : [required(child(path, 'monitors'))]),
  quobyte: (source, path) => {
    const detail = 'must be a host:port pair or multiple pairs separated by commas';
    const { registry, volume, tenant = '' } = source;
    const at = child(path, 'registry');
    const isPair = (text: string) => /^[^:]+:[^:]+$/.test(text);
    return [
      ...(registry
        ? registry.split(',').every(isPair)
          ? []
          : [invalid(at, registry, detail)]
        : [required(at, detail)]),
      ...(tenant.length > 64
        ? [required(child(path, 'tenant'), 'must be a UUID and may not exceed a length of 64 characters')]
        : []),
      ...requireValue(child(path, 'volume'), volume),
    ];
  },
  downwardAPI: (source, path) => [
    ...fileMode(child(path, 'defaultMode'), source.defaultMode),
    ...downwardItems(source.items, path),
  ],
  fc: (source, path) => {
    const byName = source.targetWWNs?.length ?? 0;
    const byId = source.wwids?.length ?? 0;
    const detail = 'must specify either targetWWNs or wwids, but not both';
    if (!byName && !byId) return [required(child(path, 'targetWWNs'), detail)];
    if (!byName) return [];
    const both = 'targetWWNs and wwids can not be specified simultaneously';
    const errors = byId ? [invalid(child(path, 'targetWWNs'), source.targetWWNs, both)] : [];
    const at = child(path, 'lun');
    if (source.lun === undefined)
      return [...errors, required(at, 'lun is required if targetWWNs is specified')];
    return source.lun < 0 || source.lun > 255
      ? [...errors, invalid(at, source.lun, inclusiveRangeMessage(0, 255))]
      : errors;
  },
  flexVolume: (source, path) => [
    ...requireValue(child(path, 'driver'), source.driver),
    ...Object.keys(source.options ?? {})
      .filter((key) => isReservedOption(key))
      .map((key) =>
        invalid(mapKey(child(path, 'options'), key), key, 'kubernetes.io and k8s.io namespaces are reserved'),
      ),
  ],
  configMap: (source, path) => [
    ...requireValue(child(path, 'name'), source.name),
    ...validateFiles(source, path),
  ],
  azureFile: all('secretName', 'shareName'),
  vsphereVolume: all('volumePath'),
  photonPersistentDisk: all('pdID'),
  portworxVolume: all('volumeID'),
  azureDisk: (source, path) => {
    const { diskName, diskURI, kind } = source;
    const isManaged = kind === 'Managed';
    const prefix = isManaged ? '/subscriptions/' : 'https://';
    const supported = isManaged
      ? '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}'
      : 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';
    return [
      ...requireValue(child(path, 'diskName'), diskName),
      ...requireValue(child(path, 'diskURI'), diskURI),
      ...oneOf(child(path, 'cachingMode'), source.cachingMode, ['None', 'ReadOnly', 'ReadWrite']),
      ...oneOf(child(path, 'kind'), kind, ['Dedicated', 'Managed', 'Shared']),
      ...(diskURI.startsWith(prefix) ? [] : [notSupported(child(path, 'diskURI'), diskURI, [supported])]),
    ];
  },
  storageos: (source, path) => [
    ...requireName(child(path, 'volumeName'), source.volumeName, isDns1123Label),
    ...(source.volumeNamespace
      ? check(child(path, 'volumeNamespace'), source.volumeNamespace, isDns1123Label)
      : []),
    ...within(path, 'secretRef', source.secretRef, (ref, at) => requireValue(child(at, 'name'), ref.name)),
  ],
  projected: validateProjected,
  scaleIO: all('gateway', 'system', 'volumeName'),
  csi: (source, path) => [
    ...validateCsiDriverName(source.driver, child(path, 'driver')),
    ...within(path, 'nodePublishSecretRef', source.nodePublishSecretRef, (ref, at) =>
      // Upstream leaves the reference out of the path when it looks at the name.
      ref.name ? check(child(path, 'name'), ref.name, isDns1123Subdomain) : [required(child(at, 'name'))],
    ),
  ],
  ephemeral: (source, path) => {
    const at = child(path, 'volumeClaimTemplate');
    const template = source.volumeClaimTemplate;
    if (!template) return [required(at)];
    return [
      ...validateAnnotations(template.metadata?.annotations, child(at, 'metadata', 'annotations')),
      ...validateLabels(template.metadata?.labels, child(at, 'metadata', 'labels')),
      ...notOfTemplates
        .filter((name) => template.metadata?.[name])
        .map((name) => forbidden(child(at, 'metadata', name === 'uid' ? 'uID' : name), 'cannot be set')),
      ...validateClaimSpec(template.spec, child(at, 'spec')),
    ];
  },
  image: (source, path) => [
    ...oneOf(child(path, 'pullPolicy'), source.pullPolicy, ['Always', 'IfNotPresent', 'Never']),
  ],
} satisfies SourceRules;

function isReservedOption(key: string): boolean {
  const namespace = `.${key.split('/')[0]?.toLowerCase() ?? ''}`;
  return namespace.endsWith('.kubernetes.io') || namespace.endsWith('.k8s.io');
}

/** Templates of claims have labels and annotations alone. */
const notOfTemplates = ['name', 'generateName', 'namespace', 'uid', 'ownerReferences', 'finalizers'] as const;

/** Source: core/validation.ValidateCSIDriverName. */
export function validateCsiDriverName(driver: string | undefined, path: string): Errors {
  if (!driver) return [required(path)];
  return [
    ...(Buffer.byteLength(driver) > 63 ? [tooLong(path, 63)] : []),
    ...check(path, driver.toLowerCase(), isDns1123Subdomain).map(({ message, ...error }) => ({
      ...error,
      message: message.replace(JSON.stringify(driver.toLowerCase()), JSON.stringify(driver)),
    })),
  ];
}

const iqnForms =
  /^(iqn\.\d{4}-\d{2}\.([a-z0-9]([-a-z0-9]*\.)?)+[a-z0-9]+(:[^,;*&$|\s]+)?|eui\.[a-fA-F0-9]{16}|naa\.[a-fA-F0-9]{32}|naa\.[a-fA-F0-9]{16})$/;

/** Source: core/validation.validateISCSIVolumeSource. */
export function validateIqn(iqn: string, path: string): Errors {
  if (!iqn) return [required(path)];
  if (!/^(iqn|eui|naa)/.test(iqn))
    return [invalid(path, iqn, 'must be valid format starting with iqn, eui, or naa')];
  return iqnForms.test(iqn) ? [] : [invalid(path, iqn, 'must be valid format')];
}
