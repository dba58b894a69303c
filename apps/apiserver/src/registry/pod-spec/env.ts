import type { EnvFromSource, EnvVar, EnvVarSource } from '@tinkernetes/api';
import { child, invalid, isConfigMapKey, isEnvVarName } from '@tinkernetes/apimachinery';
import { check, eachOf, requireName, requireValue, within } from '../rules';
import type { Errors } from '../rules';
import { envFieldPaths, validateFieldRef, validateResourceFieldRef } from './field-references';

const severalSources = 'may not have more than one field specified at a time';

/** Source: core/validation.ValidateEnv. */
export const validateEnv = (env: readonly EnvVar[] | undefined, path: string): Errors =>
  eachOf(path, env, (variable, at) => [
    ...requireName(child(at, 'name'), variable.name, isEnvVarName),
    ...within(at, 'valueFrom', variable.valueFrom, (source, sourcePath) =>
      validateValueFrom(source, sourcePath, variable.value ?? ''),
    ),
  ]);

function validateValueFrom(source: EnvVarSource, path: string, value: string): Errors {
  const errors = [
    ...within(path, 'fieldRef', source.fieldRef, (ref, at) => validateFieldRef(ref, at, envFieldPaths)),
    ...within(path, 'resourceFieldRef', source.resourceFieldRef, (ref, at) =>
      validateResourceFieldRef(ref, at, false),
    ),
    ...within(path, 'configMapKeyRef', source.configMapKeyRef, validateKeyRef),
    ...within(path, 'secretKeyRef', source.secretKeyRef, validateKeyRef),
  ];
  const count = Object.values(source).filter((ref) => ref !== undefined && ref !== null).length;
  if (count === 0) {
    const detail =
      'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
    return [...errors, invalid(path, '', detail)];
  }
  if (value !== '') return [...errors, invalid(path, '', 'may not be specified when `value` is not empty')];
  return count > 1 ? [...errors, invalid(path, '', severalSources)] : errors;
}

const validateKeyRef = (ref: { name?: string; key: string }, path: string): Errors => [
  ...requireValue(child(path, 'name'), ref.name),
  ...requireName(child(path, 'key'), ref.key, isConfigMapKey),
];

/** Source: core/validation.ValidateEnvFrom. */
export const validateEnvFrom = (sources: readonly EnvFromSource[] | undefined, path: string): Errors =>
  eachOf(path, sources, ({ prefix, configMapRef, secretRef }, at) => {
    const errors = [
      ...(prefix ? check(child(at, 'prefix'), prefix, isEnvVarName) : []),
      ...within(at, 'configMapRef', configMapRef, (ref, refPath) =>
        requireValue(child(refPath, 'name'), ref.name),
      ),
      ...within(at, 'secretRef', secretRef, (ref, refPath) => requireValue(child(refPath, 'name'), ref.name)),
    ];
    if (!configMapRef && !secretRef) {
      return [...errors, invalid(at, '', 'must specify one of: `configMapRef` or `secretRef`')];
    }
    return configMapRef && secretRef ? [...errors, invalid(at, '', severalSources)] : errors;
  });
