import type { CustomResourceSubresourceScale, KubeObject } from '@tinkernetes/api';
import { invalid } from '@tinkernetes/apimachinery';
import type { FieldError } from '../contracts';
import { valueAt } from './structural-schema';

const maxReplicas = 2 ** 31 - 1;

/** What a custom resource's scale can't be read from. Source: apiextensions-apiserver/pkg/registry/customresource/validator.go. */
export function scaleErrors(
  object: KubeObject,
  scale: CustomResourceSubresourceScale | undefined,
  { onlyStatus = false } = {},
): FieldError[] {
  if (!scale) return [];
  const { specReplicasPath, statusReplicasPath } = scale;
  return [...(onlyStatus ? [] : [specReplicasPath]), statusReplicasPath].flatMap((path) => {
    const value = valueAt(object, path);
    if (typeof value !== 'number') return [];
    if (value < 0) return [invalid(path, value, 'should be a non-negative integer')];
    const detail = `should be less than or equal to ${maxReplicas}`;
    return value > maxReplicas ? [invalid(path, value, detail)] : [];
  });
}
