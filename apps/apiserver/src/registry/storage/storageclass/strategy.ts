import { StorageClasses } from '@tinkernetes/api';
import type { StorageClass } from '@tinkernetes/api';
import { isQualifiedName } from '@tinkernetes/apimachinery';
import { age } from '../../../printers/cells';
import { defineStrategy } from '../../define-strategy';
import { fill } from '../../fill';
import { immutable } from '../../immutable';
import { requireName, requireOneOf } from '../../rules';
import type { Errors } from '../../rules';

const validate = (storageClass: StorageClass): Errors => [
  ...requireName('provisioner', storageClass.provisioner, (name) => isQualifiedName(name.toLowerCase())),
  ...requireOneOf('reclaimPolicy', storageClass.reclaimPolicy, ['Delete', 'Retain']),
  ...requireOneOf('volumeBindingMode', storageClass.volumeBindingMode, ['Immediate', 'WaitForFirstConsumer']),
];

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
      object.reclaimPolicy ?? '',
      object.volumeBindingMode ?? '',
      object.allowVolumeExpansion ?? false,
      age(object, now),
    ];
  },
});
