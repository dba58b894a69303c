import type {
  PersistentVolumeClaimSpec,
  TypedLocalObjectReference,
  TypedObjectReference,
} from '@tinkernetes/api';
import {
  child,
  forbidden,
  invalid,
  isDns1123Label,
  isDns1123Subdomain,
  mapKey,
  Quantity,
  required,
  semanticEqual,
} from '@tinkernetes/apimachinery';
import { validateLabelSelector } from '../../pod-spec/label-selectors';
import { check, oneOf, requireValue, within } from '../../rules';
import type { Errors } from '../../rules';

export const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];

/** Source: core/validation.ValidatePersistentVolumeClaimSpec. */
export function validateClaimSpec(spec: PersistentVolumeClaimSpec, path: string): Errors {
  return [
    ...(spec.accessModes?.length
      ? []
      : [required(child(path, 'accessModes'), 'at least 1 access mode is required')]),
    ...validateLabelSelector(spec.selector, child(path, 'selector')),
    ...validateAccessModes(spec.accessModes ?? [], child(path, 'accessModes')),
    ...validateStorage(spec, mapKey(child(path, 'resources'), 'storage')),
    ...className(spec.storageClassName, child(path, 'storageClassName')),
    ...oneOf(child(path, 'volumeMode'), spec.volumeMode, ['Block', 'Filesystem']),
    ...within(path, 'dataSource', spec.dataSource, validateSource),
    ...within(path, 'dataSourceRef', spec.dataSourceRef, validateSource),
    ...validateBothSources(spec, path),
    ...className(spec.volumeAttributesClassName, child(path, 'volumeAttributesClassName')),
  ];
}

const className = (name: string | undefined, path: string): Errors =>
  name ? check(path, name, isDns1123Subdomain) : [];

export function validateAccessModes(modes: readonly string[], path: string): Errors {
  const isMixed = modes.includes('ReadWriteOncePod') && modes.some((mode) => mode !== 'ReadWriteOncePod');
  const errors = modes.flatMap((mode) => oneOf(path, mode, accessModes));
  return isMixed
    ? [...errors, forbidden(path, 'may not use ReadWriteOncePod with other access modes')]
    : errors;
}

function validateStorage(spec: PersistentVolumeClaimSpec, path: string): Errors {
  const storage = spec.resources?.requests?.storage;
  if (storage === undefined) return [required(path)];
  const quantity = Quantity.parse(storage);
  return quantity.sign > 0 ? [] : [invalid(path, quantity.toString(), 'must be greater than zero')];
}

function validateSource(source: TypedLocalObjectReference | TypedObjectReference, path: string): Errors {
  const { name, kind, apiGroup } = source;
  const namespace = 'namespace' in source ? source.namespace : undefined;
  return [
    ...requireValue(child(path, 'name'), name),
    ...requireValue(child(path, 'kind'), kind),
    ...(!apiGroup && kind !== 'PersistentVolumeClaim'
      ? [invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup")]
      : []),
    ...(apiGroup ? check(child(path, 'apiGroup'), apiGroup, isDns1123Subdomain) : []),
    ...(namespace ? check(child(path, 'namespace'), namespace, isDns1123Label) : []),
  ];
}

function validateBothSources({ dataSource, dataSourceRef }: PersistentVolumeClaimSpec, path: string): Errors {
  if (!dataSource || !dataSourceRef) return [];
  // Upstream shows a path where the value should be.
  if (dataSourceRef.namespace)
    return [invalid(path, {}, 'may not be specified when dataSourceRef.namespace is specified')];
  const same = semanticEqual({ ...dataSource }, { ...dataSourceRef });
  return same ? [] : [invalid(path, {}, 'must match dataSourceRef')];
}
