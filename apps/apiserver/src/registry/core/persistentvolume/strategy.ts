import { PersistentVolumes } from '@tinkernetes/api';
import type { PersistentVolume, PersistentVolumeSpec } from '@tinkernetes/api';
import {
  child,
  forbidden,
  isDns1123Subdomain,
  notSupported,
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
import { goDiff } from '../../go-diff';
import { goStruct } from '../../go-struct';
import { roundUpToMilli } from '../../pod-spec/resource-defaults';
import { validateNodeSelector } from '../../pod-spec/scheduling';
import { check, oneOf, requireOneOf } from '../../rules';
import type { Errors } from '../../rules';
import { validateAccessModes } from '../persistentvolumeclaim/validate';
import { sourceRules } from './sources';

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
  const [first] = given;
  if (!first) return [required('spec', 'must specify a volume type')];
  const extra = given
    .slice(1)
    // Upstream lets a flexible volume stand beside any other.
    .map((name) =>
      name === 'flexVolume'
        ? []
        : [forbidden(child('spec', misspelt[name] ?? name), 'may not specify more than 1 volume type')],
    )
    .flat();
  const looked =
    given.includes('flexVolume') && first !== 'flexVolume' ? [first, 'flexVolume' as const] : [first];
  return [
    ...looked.flatMap((name) => {
      const rule = sourceRules[name] as (source: unknown, path: string) => Errors;
      return rule(spec[name], child('spec', name));
    }),
    ...extra,
    ...(spec.local && !spec.nodeAffinity
      ? [required('spec.nodeAffinity', 'Local volume requires node affinity')]
      : []),
  ];
}

/** How upstream's messages name it. */
const misspelt: Readonly<Record<string, string | undefined>> = { cephfs: 'cephFS' };

function validate({ spec }: PersistentVolume): Errors {
  const given = spec ?? {};
  const errors: Errors = [];
  if (!given.accessModes?.length) errors.push(required('spec.accessModes'));
  errors.push(...validateAccessModes(given.accessModes ?? [], 'spec.accessModes'));
  const storage = given.capacity?.storage;
  const capacities = Object.keys(given.capacity ?? {});
  if (capacities.length === 0) errors.push(required('spec.capacity'));
  if (storage === undefined || capacities.length > 1)
    errors.push(notSupported('spec.capacity', given.capacity ?? null, ['storage']));
  if (storage !== undefined && Quantity.parse(storage).sign <= 0) {
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
    ...validateNodeAffinity(given),
    ...validateSource(given),
    ...(given.storageClassName
      ? check('spec.storageClassName', given.storageClassName, isDns1123Subdomain)
      : []),
    ...oneOf('spec.volumeMode', given.volumeMode, ['Block', 'Filesystem']),
    ...validateAttributesClass(given),
  );
  return errors;
}

function validateAttributesClass({ volumeAttributesClassName: name, csi }: PersistentVolumeSpec): Errors {
  if (name === undefined) return [];
  const path = 'spec.volumeAttributesClassName';
  return [
    ...(name === ''
      ? [required(path, 'an empty string is disallowed')]
      : check(path, name, isDns1123Subdomain)),
    ...(csi ? [] : [required('spec.csi', 'has to be specified when using volumeAttributesClassName')]),
  ];
}

function validateNodeAffinity({ nodeAffinity }: PersistentVolumeSpec): Errors {
  const path = 'spec.nodeAffinity.required';
  if (!nodeAffinity) return [];
  return nodeAffinity.required
    ? validateNodeSelector(nodeAffinity.required.nodeSelectorTerms, path)
    : [required(path, 'must specify required node constraints')];
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
    // Upstream checks the whole twice, and says it twice.
    const errors = [...validate(volume), ...validate(volume)];
    const affinity = volume.spec?.nodeAffinity;
    if (old.spec?.nodeAffinity && !semanticEqual(affinity, old.spec.nodeAffinity)) {
      const detail = 'field is immutable, except for updating from beta label to GA';
      errors.push(
        invalid('nodeAffinity', affinity ? goStruct(affinity, 'VolumeNodeAffinity') : null, detail),
      );
    }
    if (!semanticEqual(sourceOf(volume.spec), sourceOf(old.spec))) {
      const path = 'spec.persistentvolumesource';
      const [before, after] = [old, volume].map(({ spec }) => sourceOf(spec));
      const difference = goDiff(before, after, 'PersistentVolumeSource');
      errors.push(forbidden(path, `${path} is immutable after creation\n${difference}`));
    }
    if (!semanticEqual(volume.spec?.volumeMode, old.spec?.volumeMode)) {
      errors.push(invalid('volumeMode', volume.spec?.volumeMode ?? null, 'field is immutable'));
    }
    return errors;
  },
  prepareForStatusUpdate: (volume, old, { now }) => {
    const { phase = 'Pending', lastPhaseTransitionTime: given, ...status } = volume.status ?? {};
    const before = old.status?.lastPhaseTransitionTime;
    const isTold = given !== undefined && given !== before;
    const time = isTold ? given : phase === old.status?.phase ? (given ?? before) : formatTime(now);
    return { ...volume, status: { phase, ...status, lastPhaseTransitionTime: time } };
  },
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
