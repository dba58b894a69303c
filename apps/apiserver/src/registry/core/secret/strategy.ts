import { Secrets } from '@tinkernetes/api';
import type { Secret } from '@tinkernetes/api';
import {
  forbidden,
  invalid,
  isConfigMapKey,
  mapKey,
  required,
  semanticEqual,
  tooLong,
} from '@tinkernetes/apimachinery';
import { JsonSyntaxError } from '../../../codec/json-syntax-error';
import { parseJson } from '../../../codec/json-reader';
import { age } from '../../../printers/cells';
import { defineStrategy } from '../../define-strategy';
import { fill } from '../../fill';
import { immutable } from '../../immutable';
import { check } from '../../rules';
import type { Errors } from '../../rules';
import { base64Length } from './base64';
import { tlsWarnings } from './tls-warnings';

const maxBytes = 1024 * 1024;
const serviceAccountName = 'kubernetes.io/service-account.name';

/** `stringData` is a way to write only. */
function mergeStringData(secret: Secret): Secret {
  const { stringData, ...rest } = secret;
  if (!stringData) return rest;
  const encoded = Object.entries(stringData).map(([key, value]) => [
    key,
    Buffer.from(value).toString('base64'),
  ]);
  const data = { ...secret.data, ...(Object.fromEntries(encoded) as Record<string, string>) };
  const sorted = Object.fromEntries(Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1)));
  return { ...rest, data: sorted };
}

const decode = (text: string | undefined): string => Buffer.from(text ?? '', 'base64').toString();

/** What keeps a text from being JSON, in the words of Go's decoder. */
function jsonProblem(text: string): string | undefined {
  try {
    parseJson(text);
    return undefined;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error.message;
    throw error;
  }
}

/** What each type must hold. Source: core/validation.ValidateSecret. */
function validateType(secret: Secret): Errors {
  const data = secret.data ?? {};
  const has = (key: string) => Object.hasOwn(data, key);
  const need = (key: string): Errors => (has(key) ? [] : [required(mapKey('data', key))]);
  const needJson = (key: string): Errors => {
    if (!has(key)) return [required(mapKey('data', key))];
    const problem = jsonProblem(decode(data[key]));
    return problem ? [invalid(mapKey('data', key), '<secret contents redacted>', problem)] : [];
  };
  switch (secret.type) {
    case 'kubernetes.io/service-account-token':
      return secret.metadata.annotations?.[serviceAccountName]
        ? []
        : [required(mapKey('metadata.annotations', serviceAccountName))];
    case 'kubernetes.io/dockercfg':
      return needJson('.dockercfg');
    case 'kubernetes.io/dockerconfigjson':
      return needJson('.dockerconfigjson');
    case 'kubernetes.io/basic-auth':
      return has('username') || has('password')
        ? []
        : [required(mapKey('data', 'username')), required(mapKey('data', 'password'))];
    case 'kubernetes.io/ssh-auth':
      return decode(data['ssh-privatekey']) ? [] : [required(mapKey('data', 'ssh-privatekey'))];
    case 'kubernetes.io/tls':
      return [...need('tls.crt'), ...need('tls.key')];
    default:
      return [];
  }
}

function validate(secret: Secret): Errors {
  const entries = Object.entries(secret.data ?? {});
  const errors = entries.flatMap(([key]) => check(mapKey('data', key), key, isConfigMapKey));
  const size = entries.reduce((sum, [, value]) => sum + base64Length(value), 0);
  if (size > maxBytes) errors.push(tooLong('data', maxBytes));
  return [...errors, ...validateType(secret)];
}

/** Source: k8s.io/kubernetes/pkg/registry/core/secret. */
export const secretStrategy = defineStrategy(Secrets, {
  default: (secret) => fill(mergeStringData(secret), { type: 'Opaque' }),
  validate,
  prepareForUpdate: (secret, old) => (secret.type ? secret : { ...secret, type: old.type }),
  validateUpdate: (secret, old) => {
    const errors = immutable('type', secret.type, old.type);
    if (old.immutable) {
      if (!secret.immutable)
        errors.push(forbidden('immutable', 'field is immutable when `immutable` is set'));
      if (!semanticEqual(secret.data, old.data)) {
        errors.push(forbidden('data', 'field is immutable when `immutable` is set'));
      }
    }
    return [...errors, ...validate(secret)];
  },
  warnings: tlsWarnings,
  selectableFieldNames: ['type'],
  selectableFields: (secret) => ({ type: secret.type ?? '' }),
  tableCells: (secret, now) => [
    secret.metadata.name,
    secret.type ?? '',
    Object.keys(secret.data ?? {}).length,
    age(secret, now),
  ],
});
