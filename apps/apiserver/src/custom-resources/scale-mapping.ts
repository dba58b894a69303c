import type { CustomResourceSubresourceScale, KubeObject } from '@tinkernetes/api';
import { internalServerError, invalid, invalidError } from '@tinkernetes/apimachinery';
import type { ScaleMapping } from '../endpoints/subresources/scale';
import { valueAt, withValueAt } from './structural-schema';

/** Where a definition says that its resource keeps replicas and selector. */
export function customScale(scale: CustomResourceSubresourceScale, group: string): ScaleMapping {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale;
  return {
    replicas(object) {
      const value = valueAt(object, specReplicasPath);
      if (value === undefined) {
        throw internalServerError(new Error(`the spec replicas field "${specReplicasPath}" does not exist`));
      }
      return Number(value);
    },
    statusReplicas: (object) => Number(valueAt(object, statusReplicasPath) ?? 0),
    selector: (object) => (labelSelectorPath ? String(valueAt(object, labelSelectorPath) ?? '') : ''),
    withReplicas: (object, replicas) =>
      withValueAt(
        object as unknown as Record<string, unknown>,
        specReplicasPath.split('.').slice(1),
        replicas,
      ) as unknown as KubeObject,
    refuseNegative: (object, replicas) =>
      invalidError({ group, kind: object.kind ?? '' }, object.metadata.name, [
        invalid(specReplicasPath, replicas, 'should be a non-negative integer'),
      ]),
  };
}
