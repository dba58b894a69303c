import { CSINodes, CSIStorageCapacities, VolumeAttachments, VolumeAttributesClasses } from '@tinkernetes/api';
import { child, duplicate, forbidden, required, semanticEqual } from '@tinkernetes/apimachinery';
import { age } from '../../printers/cells';
import { defineStrategy } from '../define-strategy';
import { immutable } from '../immutable';
import { eachOf, requireValue } from '../rules';

/** Source: k8s.io/kubernetes/pkg/registry/storage/csinode. */
export const csiNodeStrategy = defineStrategy(CSINodes, {
  validate: ({ spec }) => {
    const names = new Set<string>();
    return eachOf('spec.drivers', spec?.drivers, (driver, at) => {
      const isDuplicate = names.has(driver.name);
      names.add(driver.name);
      return [
        ...requireValue(child(at, 'name'), driver.name),
        ...requireValue(child(at, 'nodeID'), driver.nodeID),
        ...(isDuplicate ? [duplicate(child(at, 'name'), driver.name)] : []),
      ];
    });
  },
  tableCells: (node, now) => [node.metadata.name, node.spec?.drivers?.length ?? 0, age(node, now)],
});

/** Source: k8s.io/kubernetes/pkg/registry/storage/csistoragecapacity. */
export const csiStorageCapacityStrategy = defineStrategy(CSIStorageCapacities, {
  validate: (object) => requireValue('storageClassName', object.storageClassName),
  validateUpdate: (object, old) => [
    ...immutable('nodeTopology', object.nodeTopology, old.nodeTopology),
    ...immutable('storageClassName', object.storageClassName, old.storageClassName),
  ],
});

/** Source: k8s.io/kubernetes/pkg/registry/storage/volumeattachment. */
export const volumeAttachmentStrategy = defineStrategy(VolumeAttachments, {
  hasGeneration: false,
  prepareForCreate: (object) => ({ ...object, status: { attached: false } }),
  validate: ({ spec }) => {
    const source = spec?.source;
    const hasSource = !!source?.persistentVolumeName || !!source?.inlineVolumeSpec;
    return [
      ...requireValue('spec.attacher', spec?.attacher),
      ...(hasSource
        ? []
        : [required('spec.source', 'must specify exactly one of inlineVolumeSpec and persistentVolumeName')]),
      ...requireValue('spec.nodeName', spec?.nodeName),
    ];
  },
  validateUpdate: (object, old) => immutable('spec', object.spec, old.spec),
  tableCells: (object, now) => [
    object.metadata.name,
    object.spec?.attacher ?? '',
    object.spec?.source?.persistentVolumeName ?? '',
    object.spec?.nodeName ?? '',
    object.status?.attached ?? false,
    age(object, now),
  ],
});

/** Source: k8s.io/kubernetes/pkg/registry/storage/volumeattributesclass. */
export const volumeAttributesClassStrategy = defineStrategy(VolumeAttributesClasses, {
  validate: (object) => [
    ...requireValue('driverName', object.driverName),
    ...(Object.keys(object.parameters ?? {}).length > 0
      ? []
      : [required('parameters', 'must contain at least one key/value pair')]),
  ],
  validateUpdate: (object, old) => [
    ...immutable('driverName', object.driverName, old.driverName),
    ...(semanticEqual(object.parameters, old.parameters)
      ? []
      : [forbidden('parameters', 'updates to parameters are forbidden.')]),
  ],
  tableCells: (object, now) => [object.metadata.name, object.driverName, age(object, now)],
});
