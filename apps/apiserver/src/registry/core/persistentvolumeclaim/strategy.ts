import { PersistentVolumeClaims } from '@tinkernetes/api';
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from '@tinkernetes/api';
import {
  forbidden,
  isDns1123Subdomain,
  Quantity,
  required,
  semanticEqual,
  invalid,
} from '@tinkernetes/apimachinery';
import { age } from '../../../printers/cells';
import { accessModesText } from '../../../printers/volumes';
import { defineStrategy } from '../../define-strategy';
import { mapMember } from '../../fill';
import { validateLabelSelector } from '../../pod-spec/label-selectors';
import { check, oneOf } from '../../rules';
import type { Errors } from '../../rules';
import { defaultClaim } from './defaults';

export const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];

function validateSpec(spec: PersistentVolumeClaimSpec): Errors {
  const errors: Errors = [];
  if (!spec.accessModes?.length)
    errors.push(required('spec.accessModes', 'at least 1 access mode is required'));
  errors.push(...validateLabelSelector(spec.selector, 'spec.selector'));
  for (const mode of spec.accessModes ?? []) errors.push(...oneOf('spec.accessModes', mode, accessModes));
  const storage = spec.resources?.requests?.storage;
  if (storage === undefined) errors.push(required('spec.resources[storage]'));
  else if (Quantity.parse(storage).sign <= 0) {
    errors.push(
      invalid('spec.resources[storage]', Quantity.parse(storage).toString(), 'must be greater than zero'),
    );
  }
  if (spec.storageClassName)
    errors.push(...check('spec.storageClassName', spec.storageClassName, isDns1123Subdomain));
  return [...errors, ...oneOf('spec.volumeMode', spec.volumeMode, ['Block', 'Filesystem'])];
}

const unchangeable =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

/** Source: core/validation.ValidatePersistentVolumeClaimUpdate. */
function validateUpdate(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): Errors {
  const spec = claim.spec ?? {};
  const oldSpec = old.spec ?? {};
  const isBinding = !oldSpec.volumeName && !!spec.volumeName;
  const comparable = {
    ...spec,
    resources: { ...spec.resources, requests: oldSpec.resources?.requests },
    volumeAttributesClassName: oldSpec.volumeAttributesClassName,
    ...(isBinding ? { volumeName: oldSpec.volumeName } : {}),
    ...(oldSpec.storageClassName === undefined ? { storageClassName: undefined } : {}),
  };
  const errors = validateSpec(spec);
  if (!semanticEqual(comparable, oldSpec)) errors.push(forbidden('spec', unchangeable));
  return errors;
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
  hasGeneration: false,
  returnDeletedObject: true,
  default: defaultClaim,
  prepareForCreate: (claim) => ({ ...syncDataSources(claim), status: { phase: 'Pending' as const } }),
  validate: (claim) => validateSpec(claim.spec ?? {}),
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
