import { ConfigMaps } from '@tinkernetes/api';
import type { ConfigMap } from '@tinkernetes/api';
import {
  forbidden,
  invalid,
  isConfigMapKey,
  mapKey,
  semanticEqual,
  tooLong,
} from '@tinkernetes/apimachinery';
import { age } from '../../../printers/cells';
import { defineStrategy } from '../../define-strategy';
import { check } from '../../rules';
import type { Errors } from '../../rules';
import { base64Length } from '../secret/base64';

const maxBytes = 1024 * 1024;

function validate(map: ConfigMap): Errors {
  const data = Object.entries(map.data ?? {});
  const binary = Object.entries(map.binaryData ?? {});
  const errors: Errors = [];
  let size = 0;
  for (const [key, value] of data) {
    errors.push(...check(mapKey('data', key), key, isConfigMapKey));
    if (map.binaryData && Object.hasOwn(map.binaryData, key)) {
      errors.push(invalid(mapKey('data', key), key, 'duplicate of key present in binaryData'));
    }
    size += Buffer.byteLength(value);
  }
  for (const [key, value] of binary) {
    errors.push(...check(mapKey('binaryData', key), key, isConfigMapKey));
    size += base64Length(value);
  }
  return size > maxBytes ? [...errors, tooLong('[]', maxBytes)] : errors;
}

/** Source: k8s.io/kubernetes/pkg/registry/core/configmap. */
export const configMapStrategy = defineStrategy(ConfigMaps, {
  validate,
  validateUpdate: (map, old) => {
    const errors: Errors = [];
    if (old.immutable) {
      if (!map.immutable) errors.push(forbidden('immutable', 'field is immutable when `immutable` is set'));
      for (const field of ['data', 'binaryData'] as const) {
        if (!semanticEqual(map[field], old[field])) {
          errors.push(forbidden(field, 'field is immutable when `immutable` is set'));
        }
      }
    }
    return [...errors, ...validate(map)];
  },
  tableCells: (map, now) => [
    map.metadata.name,
    Object.keys(map.data ?? {}).length + Object.keys(map.binaryData ?? {}).length,
    age(map, now),
  ],
});
