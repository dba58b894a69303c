import { Namespaces } from '@tinkernetes/api';
import type { Namespace } from '@tinkernetes/api';
import { check, eachOf } from '../../rules';
import type { Errors } from '../../rules';
import { invalid, isDns1123Label, isQualifiedName } from '@tinkernetes/apimachinery';
import { namespaceCells } from '../../../printers/nodes';
import { defineStrategy } from '../../define-strategy';

const nameLabel = 'kubernetes.io/metadata.name';

/** The label that always carries the namespace's own name. Source: KEP-2161. */
function withNameLabel(namespace: Namespace): Namespace {
  const { name, labels } = namespace.metadata;
  if (!name || labels?.[nameLabel] === name) return namespace;
  return { ...namespace, metadata: { ...namespace.metadata, labels: { ...labels, [nameLabel]: name } } };
}

function withFinalizer(namespace: Namespace): Namespace {
  const finalizers = namespace.spec?.finalizers ?? [];
  if (finalizers.includes('kubernetes')) return namespace;
  return { ...namespace, spec: { ...namespace.spec, finalizers: [...finalizers, 'kubernetes'] } };
}

const standardFinalizers = new Set(['kubernetes', 'foregroundDeletion', 'orphan']);

/** Source: core/validation.validateFinalizerName. */
function validateFinalizer(name: string): Errors {
  const path = 'spec.finalizers';
  const errors = check(path, name, isQualifiedName);
  return name.includes('/') || standardFinalizers.has(name)
    ? errors
    : [...errors, invalid(path, name, 'name is neither a standard finalizer name nor is it fully qualified')];
}

/** Source: k8s.io/kubernetes/pkg/registry/core/namespace. */
export const namespaceStrategy = defineStrategy(Namespaces, {
  nameCheck: isDns1123Label,
  hasGeneration: false,
  default: withNameLabel,
  prepareForCreate: (namespace) => ({
    ...withFinalizer(withNameLabel(namespace)),
    status: { phase: 'Active' as const },
  }),
  prepareForUpdate: (namespace, old) => ({
    ...namespace,
    spec: { ...namespace.spec, finalizers: old.spec?.finalizers },
  }),
  validate: (namespace) =>
    eachOf('spec.finalizers', namespace.spec?.finalizers, (name) => validateFinalizer(name)),
  prepareForStatusUpdate: (namespace) => ({
    ...namespace,
    status: { phase: 'Active' as const, ...namespace.status },
  }),
  validateStatusUpdate: (namespace) => {
    const phase = namespace.status?.phase;
    const path = 'status.Phase';
    if (!namespace.metadata.deletionTimestamp) {
      return phase === undefined || phase === 'Active'
        ? []
        : [invalid(path, phase, "may only be 'Active' if `deletionTimestamp` is empty")];
    }
    return phase === 'Terminating'
      ? []
      : [invalid(path, phase ?? '', "may only be 'Terminating' if `deletionTimestamp` is not empty")];
  },
  extraFinalizers: (namespace) => namespace.spec?.finalizers ?? [],
  markTerminating: (namespace) => ({
    ...namespace,
    status: { ...namespace.status, phase: 'Terminating' as const },
  }),
  returnDeletedObject: true,
  selectableFieldNames: ['status.phase'],
  selectableFields: ({ status }) => ({ 'status.phase': status?.phase ?? '' }),
  tableCells: namespaceCells,
});
