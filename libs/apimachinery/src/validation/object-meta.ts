import type { ObjectMeta, OwnerReference } from '@tinkernetes/api';
import { splitApiVersion } from '../api-version';
import { deepEqual } from '../deep';
import { child, forbidden, index, invalid, required, tooLong } from './field-error';
import type { FieldError } from './field-error';
import { validateManagedFields } from './managed-fields';
import {
  asGeneratePrefix,
  immutableMessage,
  isLabelValue,
  isQualifiedName,
  notNegativeMessage,
} from './names';
import type { NameCheck } from './names';

const maxAnnotationsBytes = 256 * 1024;
const standardFinalizers = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

/** Source: k8s.io/apimachinery/pkg/apis/meta/v1/validation.ValidateLabels. */
export function validateLabels(
  labels: Readonly<Record<string, string>> | undefined,
  path: string,
): FieldError[] {
  return Object.entries(labels ?? {}).flatMap(([key, value]) => [
    ...isQualifiedName(key).map((text) => invalid(path, key, text)),
    ...isLabelValue(value).map((text) => invalid(path, value, text)),
  ]);
}

export function validateAnnotations(
  annotations: Readonly<Record<string, string>> | undefined,
  path: string,
): FieldError[] {
  const entries = Object.entries(annotations ?? {});
  const errors = entries.flatMap(([key]) =>
    isQualifiedName(key.toLowerCase()).map((text) => invalid(path, key, text)),
  );
  const size = entries.reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );
  return size > maxAnnotationsBytes ? [...errors, tooLong(path, maxAnnotationsBytes)] : errors;
}

function validateFinalizers(
  finalizers: readonly string[] | undefined,
  path: string,
  isFree = false,
): FieldError[] {
  const list = finalizers ?? [];
  const names = list.flatMap((name) => isQualifiedName(name).map((text) => invalid(path, name, text)));
  const isPlain = (name: string) => !isFree && !name.includes('/') && !standardFinalizers.has(name);
  const detail = 'name is neither a standard finalizer name nor is it fully qualified';
  const both =
    list.includes('orphan') && list.includes('foregroundDeletion')
      ? [invalid(path, list, 'finalizer orphan and foregroundDeletion cannot be both set')]
      : [];
  return [
    ...names,
    ...both,
    ...list.flatMap((name, i) => (isPlain(name) ? [invalid(index(path, i), name, detail)] : [])),
  ];
}

const ownerForError = ({ apiVersion, kind, name, uid, ...rest }: OwnerReference) => ({
  apiVersion,
  kind,
  name,
  uid,
  ...rest,
});

function validateOwnerReferences(
  references: readonly OwnerReference[] | undefined,
  path: string,
): FieldError[] {
  const list = references ?? [];
  const errors = list.flatMap((reference) => validateOwnerReference(reference, path));
  const controllers = list.filter((reference) => reference.controller);
  const [first, second] = controllers;
  if (!first || !second) return errors;
  const detail = `Only one reference can have Controller set to true. Found "true" in references for ${first.kind}/${first.name} and ${second.kind}/${second.name}`;
  return [...errors, invalid(path, list.map(ownerForError), detail)];
}

function validateOwnerReference(reference: OwnerReference, path: string): FieldError[] {
  const { apiVersion, kind, name, uid } = reference;
  const errors: FieldError[] = [];
  const [group, version] = splitApiVersion(apiVersion);
  if (version === '')
    errors.push(invalid(child(path, 'apiVersion'), apiVersion, 'version must not be empty'));
  if (kind === '') errors.push(invalid(child(path, 'kind'), kind, 'must not be empty'));
  if (name === '') errors.push(invalid(child(path, 'name'), name, 'must not be empty'));
  if (uid === '') errors.push(invalid(child(path, 'uid'), uid, 'must not be empty'));
  if (group === '' && version === 'v1' && kind === 'Event') {
    errors.push(
      invalid(
        path,
        ownerForError(reference),
        `${group}/${version}, Kind=${kind} is disallowed from being an owner`,
      ),
    );
  }
  return errors;
}

export interface ObjectMetaRules {
  readonly isNamespaced: boolean;
  readonly nameCheck: NameCheck;
  readonly path?: string;
  /** Finalizers need no domain, as only those of built-in kinds do. */
  readonly hasFreeFinalizers?: boolean;
}

/** Source: k8s.io/apimachinery/pkg/api/validation.ValidateObjectMetaAccessor. */
export function validateObjectMeta(meta: ObjectMeta, rules: ObjectMetaRules): FieldError[] {
  const path = rules.path ?? 'metadata';
  const errors: FieldError[] = [];
  if (meta.generateName) {
    errors.push(
      ...asGeneratePrefix(rules.nameCheck)(meta.generateName).map((text) =>
        invalid(child(path, 'generateName'), meta.generateName, text),
      ),
    );
  }
  if (!meta.name) {
    errors.push(required(child(path, 'name'), 'name or generateName is required'));
  } else {
    errors.push(...rules.nameCheck(meta.name).map((text) => invalid(child(path, 'name'), meta.name, text)));
  }
  if (rules.isNamespaced) {
    if (!meta.namespace) errors.push(required(child(path, 'namespace')));
  } else if (meta.namespace) {
    errors.push(forbidden(child(path, 'namespace'), 'not allowed on this type'));
  }
  if ((meta.generation ?? 0) < 0) {
    errors.push(invalid(child(path, 'generation'), meta.generation, notNegativeMessage));
  }
  return [
    ...errors,
    ...validateLabels(meta.labels, child(path, 'labels')),
    ...validateAnnotations(meta.annotations, child(path, 'annotations')),
    ...validateOwnerReferences(meta.ownerReferences, child(path, 'ownerReferences')),
    ...validateFinalizers(meta.finalizers, child(path, 'finalizers'), rules.hasFreeFinalizers),
    ...validateManagedFields(meta.managedFields, child(path, 'managedFields')),
  ];
}

/** What an update may not change. Source: ValidateObjectMetaAccessorUpdate. */
export function validateObjectMetaUpdate(meta: ObjectMeta, old: ObjectMeta, path = 'metadata'): FieldError[] {
  const errors: FieldError[] = [];
  if (old.deletionTimestamp) {
    const added = (meta.finalizers ?? []).filter((name) => !(old.finalizers ?? []).includes(name));
    if (added.length > 0) {
      const list = `[]string{${added.map((name) => JSON.stringify(name)).join(', ')}}`;
      errors.push(
        forbidden(
          child(path, 'finalizers'),
          `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`,
        ),
      );
    }
  }
  if ((meta.generation ?? 0) < (old.generation ?? 0)) {
    errors.push(invalid(child(path, 'generation'), meta.generation ?? 0, 'must not be decremented'));
  }
  for (const field of [
    'name',
    'namespace',
    'uid',
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
  ] as const) {
    if (!deepEqual(meta[field] ?? undefined, old[field] ?? undefined)) {
      errors.push(invalid(child(path, field), meta[field] ?? null, immutableMessage));
    }
  }
  return [
    ...errors,
    ...validateLabels(meta.labels, child(path, 'labels')),
    ...validateAnnotations(meta.annotations, child(path, 'annotations')),
    ...validateOwnerReferences(meta.ownerReferences, child(path, 'ownerReferences')),
    ...validateManagedFields(meta.managedFields, child(path, 'managedFields')),
  ];
}
