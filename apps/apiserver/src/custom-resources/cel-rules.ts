import type { KubeObject } from '@tinkernetes/api';
import type { FieldError } from '../contracts';
import type { Schema } from './structural-schema';

/** What the object breaks of the schema's x-kubernetes-validations. */
export function celErrors(_object: KubeObject, _old: KubeObject | undefined, _schema: Schema): FieldError[] {
  return [];
}
