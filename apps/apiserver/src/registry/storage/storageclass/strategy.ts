import { StorageClasses } from '@tinkernetes/api';
import type { StorageClass } from '@tinkernetes/api';
import { child, duplicate, isQualifiedName, required } from '@tinkernetes/apimachinery';
import { age } from '../../../printers/cells';
import { defineStrategy } from '../../define-strategy';
import { fill } from '../../fill';
import { immutable } from '../../immutable';
import { check, eachOf, oneOf, requireName } from '../../rules';
import type { Errors } from '../../rules';

const validate = (storageClass: StorageClass): Errors => [
  ...requireName('provisioner', storageClass.provisioner?.toLowerCase(), isQualifiedName),
  ...(storageClass.reclaimPolicy
    ? oneOf('reclaimPolicy', storageClass.reclaimPolicy, ['Delete', 'Retain'])
    : []),
  ...oneOf('volumeBindingMode', storageClass.volumeBindingMode, ['Immediate', 'WaitForFirstConsumer']),
  ...validateTopologies(storageClass.allowedTopologies),
];

/** Source: core/validation.ValidateTopologySelectorTerm; storage/validation.validateAllowedTopologies. */
function validateTopologies(terms: StorageClass['allowedTopologies']): Errors {
  return eachOf('allowedTopologies', terms, (term, at, i) => {
    const path = child(at, 'matchLabelExpressions');
    const expressions = term.matchLabelExpressions ?? [];
    const errors = eachOf(path, expressions, ({ key, values = [] }, expressionPath, e) => [
      ...(values.length === 0 ? [required(child(expressionPath, 'values'))] : []),
      ...eachOf(child(expressionPath, 'values'), values, (value, valuePath, v) =>
        values.indexOf(value) < v ? [duplicate(valuePath, value)] : [],
      ),
      ...check(child(expressionPath, 'key'), key, isQualifiedName),
      ...(expressions.slice(0, e).some((other) => other.key === key)
        ? [duplicate(child(expressionPath, 'key'), key)]
        : []),
    ]);
    const earlier = terms?.slice(0, i) ?? [];
    // To say nothing is to say what was said before.
    const isRepeated = expressions.length === 0 || earlier.some((other) => covers(other, term));
    return isRepeated ? [...errors, duplicate(path, '')] : errors;
  });
}

type Topology = NonNullable<StorageClass['allowedTopologies']>[number];

/** Whether two terms say the same. */
function covers(one: Topology, other: Topology): boolean {
  const [a, b] = [one, other].map(({ matchLabelExpressions: list = [] }) =>
    list
      .map(({ key, values }) => `${key}=${[...(values ?? [])].sort().join()}`)
      .sort()
      .join(';'),
  );
  return a === b;
}

/** Source: k8s.io/kubernetes/pkg/registry/storage/storageclass. */
export const storageClassStrategy = defineStrategy(StorageClasses, {
  returnDeletedObject: true,
  default: (object) => fill(object, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }),
  validate,
  validateUpdate: (object, old) => [
    ...validate(object),
    ...immutable('parameters', object.parameters, old.parameters),
    ...immutable('provisioner', object.provisioner, old.provisioner),
    ...immutable('reclaimPolicy', object.reclaimPolicy, old.reclaimPolicy),
    ...immutable('volumeBindingMode', object.volumeBindingMode, old.volumeBindingMode),
  ],
  tableCells: (object, now) => {
    const isDefault = object.metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true';
    return [
      isDefault ? `${object.metadata.name} (default)` : object.metadata.name,
      object.provisioner,
      object.reclaimPolicy ?? 'Delete',
      object.volumeBindingMode ?? 'Immediate',
      object.allowVolumeExpansion ?? false,
      age(object, now),
    ];
  },
});
