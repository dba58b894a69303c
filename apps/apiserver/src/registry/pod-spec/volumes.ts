import type { KeyToPath, ProjectedVolumeSource, Volume } from '@tinkernetes/api';
import {
  child,
  duplicate,
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
import { check, eachOf, oneOf, requireName, requireValue, within } from '../rules';
import type { Errors } from '../rules';
import { validateFieldRef, validateResourceFieldRef, volumeFieldPaths } from './field-references';
import { localDescendingPath, localNonReservedPath, noBacksteps } from './paths';

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
  podName: string | undefined,
): { byName: Map<string, Volume>; errors: Errors } {
  const byName = new Map<string, Volume>();
  const errors = eachOf(path, volumes, (volume, at) => {
    const own = validateSource(volume, at);
    const source = sourcesOf(volume)[0];
    // Templates may leave the image to others.
    if (source === 'image' && podName !== undefined)
      own.unshift(...requireValue(child(at, 'image', 'reference'), volume.image?.reference));
    if (source === 'iscsi') own.push(...validateIscsiNames(volume, at));
    // A Pod that has its name already (no template) must be able to name the claim.
    if (source === 'ephemeral' && volume.name && podName) {
      const claim = `${podName}-${volume.name}`;
      own.push(
        ...isDns1123Subdomain(claim).map((text) =>
          invalid(child(at, 'name'), volume.name, `PVC name ${JSON.stringify(claim)}: ${text}`),
        ),
      );
    }
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

/** How upstream's messages name some of them. */
const misspelt: { [K in SourceName]?: string } = {
  cephfs: 'cephFS',
  downwardAPI: 'downwarAPI',
};

function validateIscsiNames({ name, iscsi }: Volume, path: string): Errors {
  if (iscsi?.initiatorName === undefined || `${name}:${iscsi.targetPortal}`.length <= 64) return [];
  const detail =
    'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
  return [invalid(child(path, 'name'), name, detail)];
}

const sourcesOf = (volume: Volume): SourceName[] =>
  (Object.keys(sharedSourceRules) as SourceName[]).filter((name) => volume[name] !== undefined);

function validateSource(volume: Volume, path: string): Errors {
  const names = sourcesOf(volume);
  if (names.length === 0) return [required(path, 'must specify a volume type')];
  return names.flatMap((name, i) => {
    const at = child(path, name);
    if (i > 0)
      return [forbidden(child(path, misspelt[name] ?? name), 'may not specify more than 1 volume type')];
    const rule = (sharedSourceRules as SourceRules)[name] as (source: unknown, path: string) => Errors;
    return rule(volume[name], at);
  });
}

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

/** Source: core/validation.validateProjectionSources. */
function validateProjected(source: ProjectedVolumeSource, path: string): Errors {
  const taken = new Set<string>();
  // No two files in the same place; upstream reports the volume, by the source's name or the file's.
  const unique = (file: string | undefined, name: string): Errors => {
    const isTaken = file && taken.has(file);
    if (file) taken.add(file);
    return isTaken ? [invalid(path, name, 'conflicting duplicate paths')] : [];
  };
  const files = (from: { name?: string; items?: KeyToPath[] }, at: string): Errors => [
    ...requireValue(child(at, 'name'), from.name),
    ...eachOf(child(at, 'items'), from.items, (item, itemPath) => [
      ...validateKeyToPath(item, itemPath),
      ...unique(item.path, from.name ?? ''),
    ]),
  ];
  return [
    ...fileMode(child(path, 'defaultMode'), source.defaultMode),
    ...eachOf(child(path, 'sources'), source.sources, (projection, at) => {
      const { secret, configMap, downwardAPI, serviceAccountToken: token } = projection;
      const count = [secret, configMap, downwardAPI, token].filter((part) => part !== undefined).length;
      return [
        ...within(at, 'secret', secret, files),
        ...within(at, 'configMap', configMap, files),
        ...within(at, 'downwardAPI', downwardAPI, ({ items = [] }, itemPath) =>
          items.flatMap((item) => [...downwardItems([item], itemPath), ...unique(item.path, item.path)]),
        ),
        ...within(at, 'serviceAccountToken', token, (given, tokenPath) =>
          validateToken(given, tokenPath, path),
        ),
        ...(count > 1 ? [forbidden(at, 'may not specify more than 1 volume type per source')] : []),
      ];
    }),
  ];
}

const tokenSecondsMin = 600;

function validateToken(
  token: { path: string; expirationSeconds?: number },
  path: string,
  volumePath: string,
): Errors {
  const errors: Errors = [];
  const seconds = token.expirationSeconds ?? tokenSecondsMin;
  const at = child(path, 'expirationSeconds');
  if (seconds < tokenSecondsMin)
    errors.push(invalid(at, seconds, 'may not specify a duration less than 10 minutes'));
  if (seconds > 2 ** 32)
    errors.push(invalid(at, seconds, 'may not specify a duration larger than 2^32 seconds'));
  // Upstream reports the path beside the sources.
  const file = child(volumePath, 'path');
  return [...errors, ...(token.path ? localNonReservedPath(file, token.path) : [required(file)])];
}
