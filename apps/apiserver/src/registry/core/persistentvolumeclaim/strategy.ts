import { PersistentVolumeClaims } from '@tinkernetes/api';
import type { PersistentVolumeClaim } from '@tinkernetes/api';
import { forbidden, Quantity, semanticEqual } from '@tinkernetes/apimachinery';
import { age } from '../../../printers/cells';
import { accessModesText } from '../../../printers/volumes';
import { defineStrategy } from '../../define-strategy';
import { claimSpecWarnings } from './warnings';
import { fill, mapMember } from '../../fill';
import { goDiff } from '../../go-diff';
import { immutable } from '../../immutable';
import type { Errors } from '../../rules';
import { defaultClaim } from './defaults';
import { validateClaimSpec } from './validate';

const unchangeable =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

/** Source: core/validation.ValidatePersistentVolumeClaimUpdate. */
function validateUpdate(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): Errors {
  const spec = claim.spec ?? {};
  const oldSpec = old.spec ?? {};
  const isBinding = !oldSpec.volumeName && !!spec.volumeName;
  const isBound = old.status?.phase === 'Bound';
  const { resources } = spec;
  const kept = { ...resources?.requests, storage: oldSpec.resources?.requests?.storage ?? '0' };
  const comparable = {
    ...spec,
    ...(isBound && resources?.requests ? { resources: { ...resources, requests: kept } } : {}),
    ...(isBound ? { volumeAttributesClassName: oldSpec.volumeAttributesClassName } : {}),
    ...(isBinding ? { volumeName: oldSpec.volumeName } : {}),
    ...(oldSpec.storageClassName === undefined ? { storageClassName: undefined } : {}),
  };
  const errors = validateClaimSpec(spec, 'spec');
  if (!semanticEqual(comparable, oldSpec))
    errors.push(
      forbidden('spec', `${unchangeable}\n${goDiff(oldSpec, comparable, 'PersistentVolumeClaimSpec')}`),
    );
  return [
    ...errors,
    ...validateShrinking(claim, old),
    ...immutable('volumeMode', spec.volumeMode, oldSpec.volumeMode),
  ];
}

/** A claim may shrink again to more than what it has already. */
function validateShrinking(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): Errors {
  const requested = ({ spec }: PersistentVolumeClaim) =>
    Quantity.parse(spec?.resources?.requests?.storage ?? '0');
  const size = requested(claim);
  const has = Quantity.parse(old.status?.capacity?.storage ?? '0');
  if (size.compare(requested(old)) >= 0 || size.compare(has) > 0) return [];
  return [forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity')];
}

/** Sources in other namespaces come with a feature that is off. Source: pvc.DropDisabledFields. */
const withoutForeignSource = (claim: PersistentVolumeClaim): PersistentVolumeClaim =>
  mapMember(claim, 'spec', (spec) => {
    const { dataSourceRef, ...kept } = spec;
    return dataSourceRef?.namespace ? kept : spec;
  });

/** The older field takes claims and snapshots only; what else it is given is dropped. Source: pvc.EnforceDataSourceBackwardsCompatibility. */
function withKnownSource(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  return mapMember(claim, 'spec', (spec) => {
    const { dataSource, ...kept } = spec;
    if (!dataSource) return spec;
    const group = dataSource.apiGroup ?? '';
    const isClaim = dataSource.kind === 'PersistentVolumeClaim' && group === '';
    const isSnapshot = dataSource.kind === 'VolumeSnapshot' && group === 'snapshot.storage.k8s.io';
    return isClaim || isSnapshot ? spec : kept;
  });
}

/** The older field and the one that replaced it say the same. Source: pvc.NormalizeDataSources. */
function syncDataSources(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  return mapMember(claim, 'spec', (spec) => {
    if (spec.dataSource && !spec.dataSourceRef) return { ...spec, dataSourceRef: spec.dataSource };
    const { dataSourceRef, dataSource } = spec;
    if (dataSourceRef && !dataSource && !dataSourceRef.namespace)
      return { ...spec, dataSource: dataSourceRef };
    return spec;
  });
}

/** Source: k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim. */
export const persistentVolumeClaimStrategy = defineStrategy(PersistentVolumeClaims, {
  warnings: ({ spec }) => claimSpecWarnings(spec, 'spec'),
  hasGeneration: false,
  returnDeletedObject: true,
  default: (claim) =>
    mapMember(defaultClaim(claim), 'status', (status) => fill(status, { phase: 'Pending' })),
  prepareForCreate: (claim) => ({
    ...syncDataSources(withKnownSource(withoutForeignSource(claim))),
    status: { phase: 'Pending' as const },
  }),
  validate: (claim) => validateClaimSpec(claim.spec ?? {}, 'spec'),
  prepareForUpdate: syncDataSources,
  validateUpdate,
  tableCells: (claim, now) => {
    const { spec, status, metadata } = claim;
    const isBound = !!spec?.volumeName;
    return [
      metadata.name,
      metadata.deletionTimestamp ? 'Terminating' : (status?.phase ?? ''),
      spec?.volumeName ?? '',
      isBound ? String(status?.capacity?.storage ?? '0') : '',
      isBound ? accessModesText(status?.accessModes) : '',
      spec?.storageClassName ?? '',
      spec?.volumeAttributesClassName ?? '<unset>',
      age(claim, now),
      spec?.volumeMode ?? '<unset>',
    ];
  },
});
