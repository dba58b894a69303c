import { CSINodes, CSIStorageCapacities, VolumeAttachments, VolumeAttributesClasses } from '@tinkernetes/api';
import type { VolumeAttributesClass } from '@tinkernetes/api';
import {
  child,
  duplicate,
  forbidden,
  invalid,
  isDns1123Subdomain,
  isQualifiedName,
  required,
  semanticEqual,
} from '@tinkernetes/apimachinery';
import { age } from '../../printers/cells';
import { defineStrategy } from '../define-strategy';
import { immutable } from '../immutable';
import { validateLabelSelector } from '../pod-spec/label-selectors';
import { validateCsiDriverName } from '../pod-spec/volume-sources';
import { check, eachOf, notNegative, requireName, requireValue } from '../rules';
import type { Errors } from '../rules';

/** Source: k8s.io/kubernetes/pkg/registry/storage/csinode. */
export const csiNodeStrategy = defineStrategy(CSINodes, {
  returnDeletedObject: true,
  allowUnconditionalUpdate: false,
  validate: ({ spec }) => {
    const names = new Set<string>();
    return eachOf('spec.drivers', spec?.drivers, (driver, at) => {
      const isDuplicate = names.has(driver.name);
      names.add(driver.name);
      return [
        ...validateCsiDriverName(driver.name, child(at, 'name')),
        ...requireValue(child(at, 'nodeID'), driver.nodeID),
        ...notNegative(child(at, 'allocatable', 'count'), driver.allocatable?.count),
        ...(driver.topologyKeys ?? []).flatMap((key, i, keys) => [
          ...(key ? [] : [required(at)]),
          ...(keys.indexOf(key) < i ? [duplicate(at, key)] : []),
          ...check(at, key, isQualifiedName),
        ]),
        ...(isDuplicate ? [duplicate(child(at, 'name'), driver.name)] : []),
      ];
    });
  },
  tableCells: (node, now) => [node.metadata.name, node.spec?.drivers?.length ?? 0, age(node, now)],
});

/** Source: k8s.io/kubernetes/pkg/registry/storage/csistoragecapacity. */
export const csiStorageCapacityStrategy = defineStrategy(CSIStorageCapacities, {
  allowUnconditionalUpdate: false,
  validate: (object) => [
    ...validateLabelSelector(object.nodeTopology, 'nodeTopology'),
    ...check('storageClassName', object.storageClassName ?? '', isDns1123Subdomain),
  ],
  validateUpdate: (object, old) => [
    ...immutable('nodeTopology', object.nodeTopology, old.nodeTopology),
    ...immutable('storageClassName', object.storageClassName, old.storageClassName),
  ],
});

/** Source: k8s.io/kubernetes/pkg/registry/storage/volumeattachment. */
export const volumeAttachmentStrategy = defineStrategy(VolumeAttachments, {
  keptByStatus: 'all',
  returnDeletedObject: true,
  allowUnconditionalUpdate: false,
  hasGeneration: false,
  prepareForCreate: (object) => ({ ...object, status: { attached: false } }),
  validate: ({ spec }) => {
    const source = spec?.source;
    const name = source?.persistentVolumeName;
    const detail = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
    const namePath = 'spec.source.persistentVolumeName';
    return [
      ...validateCsiDriverName(spec?.attacher, 'spec.attacher'),
      ...(name === undefined && !source?.inlineVolumeSpec ? [required('spec.source', detail)] : []),
      ...(name !== undefined && source?.inlineVolumeSpec ? [forbidden('spec.source', detail)] : []),
      ...(name === '' ? [required(namePath, 'must specify non empty persistentVolumeName')] : []),
      ...(name === undefined ? [] : check(namePath, name, isDns1123Subdomain)),
      ...check('spec.nodeName', spec?.nodeName ?? '', isDns1123Subdomain),
    ];
  },
  validateUpdate: (object, old) => immutable('spec', object.spec, old.spec, 'VolumeAttachmentSpec'),
  tableCells: (object, now) => [
    object.metadata.name,
    object.spec?.attacher ?? '',
    object.spec?.source?.persistentVolumeName ?? '',
    object.spec?.nodeName ?? '',
    object.status?.attached ?? false,
    age(object, now),
  ],
});

const validateAttributesClass = (object: VolumeAttributesClass): Errors => [
  ...requireName('driverName', object.driverName?.toLowerCase(), isQualifiedName),
  ...(Object.keys(object.parameters ?? {}).length > 0
    ? []
    : [required('parameters', 'must contain at least one key/value pair')]),
  ...(Object.hasOwn(object.parameters ?? {}, '')
    ? [invalid('parameters', '', 'field can not be empty.')]
    : []),
];

/** Source: k8s.io/kubernetes/pkg/registry/storage/volumeattributesclass. */
export const volumeAttributesClassStrategy = defineStrategy(VolumeAttributesClasses, {
  returnDeletedObject: true,
  validate: validateAttributesClass,
  validateUpdate: (object, old) => [
    ...(object.driverName === old.driverName
      ? []
      : [forbidden('driverName', 'updates to driverName are forbidden.')]),
    ...(semanticEqual(object.parameters, old.parameters)
      ? []
      : [forbidden('parameters', 'updates to parameters are forbidden.')]),
    ...validateAttributesClass(object),
  ],
  tableCells: (object, now) => [object.metadata.name, object.driverName, age(object, now)],
});
