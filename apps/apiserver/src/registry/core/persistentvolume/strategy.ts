import { PersistentVolumes } from '@tinkernetes/api';
import type { PersistentVolume, PersistentVolumeSpec } from '@tinkernetes/api';
import {
  child,
  forbidden,
  Quantity,
  required,
  semanticEqual,
  invalid,
  mapKey,
} from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import { age } from '../../../printers/cells';
import { accessModesText } from '../../../printers/volumes';
import { defineStrategy } from '../../define-strategy';
import { fill, mapMember } from '../../fill';
import { roundUpToMilli } from '../../pod-spec/container-defaults';
import { noBacksteps } from '../../pod-spec/paths';
import { validateNodeSelector } from '../../pod-spec/scheduling';
import { oneOf, requireOneOf, requireValue } from '../../rules';
import type { Errors } from '../../rules';
import { accessModes } from '../persistentvolumeclaim/validate';

const sources = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'nfs',
  'rbd',
  'quobyte',
  'cephfs',
  'iscsi',
  'cinder',
  'fc',
  'flocker',
  'flexVolume',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'scaleIO',
  'local',
  'storageos',
  'csi',
] as const;

const sourceOf = (spec: PersistentVolumeSpec | undefined): object =>
  Object.fromEntries(sources.map((name) => [name, spec?.[name]]));

function validateSource(spec: PersistentVolumeSpec): Errors {
  const given = sources.filter((name) => spec[name] !== undefined);
  if (given.length === 0) return [required('spec', 'must specify a volume type')];
  const extra = given
    .slice(1)
    .map((name) => forbidden(child('spec', name), 'may not specify more than 1 volume type'));
  const { hostPath, csi, local } = spec;
  return [
    ...extra,
    ...(hostPath
      ? hostPath.path
        ? noBacksteps('spec.hostPath.path', hostPath.path)
        : [required('spec.hostPath.path')]
      : []),
    ...(csi
      ? [
          ...requireValue('spec.csi.driver', csi.driver),
          ...requireValue('spec.csi.volumeHandle', csi.volumeHandle),
        ]
      : []),
    ...(local ? requireValue('spec.local.path', local.path) : []),
  ];
}

function validate({ spec }: PersistentVolume): Errors {
  const given = spec ?? {};
  const errors: Errors = [];
  if (!given.accessModes?.length) errors.push(required('spec.accessModes'));
  for (const mode of given.accessModes ?? [])
    errors.push(...oneOf('spec.accessModes', mode, [...accessModes].sort()));
  const storage = given.capacity?.storage;
  if (storage === undefined) errors.push(required('spec.capacity'));
  else if (Quantity.parse(storage).sign <= 0) {
    errors.push(
      invalid(
        mapKey('spec.capacity', 'storage'),
        Quantity.parse(storage).toString(),
        'must be greater than zero',
      ),
    );
  }
  errors.push(
    ...requireOneOf('spec.persistentVolumeReclaimPolicy', given.persistentVolumeReclaimPolicy, [
      'Delete',
      'Recycle',
      'Retain',
    ]),
    ...validateSource(given),
    ...oneOf('spec.volumeMode', given.volumeMode, ['Block', 'Filesystem']),
  );
  const terms = given.nodeAffinity?.required?.nodeSelectorTerms;
  return given.nodeAffinity?.required
    ? [...errors, ...validateNodeSelector(terms, 'spec.nodeAffinity.required')]
    : errors;
}

/** Source: k8s.io/kubernetes/pkg/registry/core/persistentvolume. */
export const persistentVolumeStrategy = defineStrategy(PersistentVolumes, {
  hasGeneration: false,
  returnDeletedObject: true,
  default: (volume) =>
    mapMember(volume, 'spec', (given) => {
      const spec = mapMember(mapMember(given, 'capacity', roundUpToMilli), 'hostPath', (path) =>
        fill(path, { type: '' }),
      );
      return fill(spec, { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' });
    }),
  prepareForCreate: (volume, { now }) => ({
    ...volume,
    status: { phase: 'Pending' as const, lastPhaseTransitionTime: formatTime(now) },
  }),
  validate,
  validateUpdate: (volume, old) => {
    const errors = validate(volume);
    if (!semanticEqual(sourceOf(volume.spec), sourceOf(old.spec))) {
      const path = 'spec.persistentvolumesource';
      errors.push(forbidden(path, 'spec.persistentvolumesource is immutable after creation'));
    }
    if (!semanticEqual(volume.spec?.volumeMode, old.spec?.volumeMode)) {
      errors.push(invalid('spec.volumeMode', volume.spec?.volumeMode ?? null, 'field is immutable'));
    }
    return errors;
  },
  prepareForStatusUpdate: (volume, old, { now }) =>
    volume.status?.phase === old.status?.phase
      ? volume
      : { ...volume, status: { ...volume.status, lastPhaseTransitionTime: formatTime(now) } },
  tableCells: (volume, now) => {
    const { spec, status, metadata } = volume;
    const claim = spec?.claimRef;
    return [
      metadata.name,
      String(spec?.capacity?.storage ?? '0'),
      accessModesText(spec?.accessModes),
      spec?.persistentVolumeReclaimPolicy ?? '',
      metadata.deletionTimestamp ? 'Terminating' : (status?.phase ?? ''),
      claim ? `${claim.namespace ?? ''}/${claim.name ?? ''}` : '',
      spec?.storageClassName ?? '',
      spec?.volumeAttributesClassName ?? '<unset>',
      status?.reason ?? '',
      age(volume, now),
      spec?.volumeMode ?? '<unset>',
    ];
  },
});
