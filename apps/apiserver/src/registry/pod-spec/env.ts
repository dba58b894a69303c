import type { EnvFromSource, EnvVar, EnvVarSource, FileKeySelector, PodSpec } from '@tinkernetes/api';
import {
  asGeneratePrefix,
  child,
  invalid,
  isConfigMapKey,
  isDns1123Label,
  isDns1123Subdomain,
  isEnvVarName,
  notFoundField,
  required,
} from '@tinkernetes/apimachinery';
import { check, eachOf, requireName, within } from '../rules';
import type { Errors } from '../rules';
import { noBacksteps } from './paths';
import { envFieldPaths, validateFieldRef, validateResourceFieldRef } from './field-references';
import { placedContainers } from './placed-containers';

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
    ...within(path, 'fileKeyRef', source.fileKeyRef, validateFileKeyRef),
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
  ...check(child(path, 'name'), ref.name ?? '', isDns1123Subdomain),
  ...requireName(child(path, 'key'), ref.key, isConfigMapKey),
];

function validateFileKeyRef(ref: FileKeySelector, path: string): Errors {
  const at = child(path, 'path');
  return [
    ...requireName(child(path, 'key'), ref.key, isEnvVarName),
    ...requireName(child(path, 'volumeName'), ref.volumeName, isDns1123Label),
    ...(ref.path ? noBacksteps(at, ref.path) : [required(at)]),
  ];
}

/** Files of variables lie in empty directories of the same Pod. Source: core/validation.validateFileKeyRefVolumes. */
export const validateFileKeyVolumes = (spec: PodSpec, path: string): Errors =>
  placedContainers(spec, path).flatMap(([{ env }, containerPath]) =>
    eachOf(child(containerPath, 'env'), env, ({ valueFrom }, at) => {
      const ref = valueFrom?.fileKeyRef;
      if (!ref) return [];
      const field = child(at, 'valueFrom', 'fileKeyRef', 'volumeName');
      const volume = spec.volumes?.find(({ name }) => name === ref.volumeName);
      if (!volume) return [notFoundField(field, ref.volumeName)];
      return volume.emptyDir
        ? []
        : [invalid(field, ref.volumeName, 'referenced volume must be of type emptyDir')];
    }),
  );

/** Source: core/validation.ValidateEnvFrom. */
export const validateEnvFrom = (sources: readonly EnvFromSource[] | undefined, path: string): Errors =>
  eachOf(path, sources, ({ prefix, configMapRef, secretRef }, at) => {
    const errors = [
      ...(prefix ? check(child(at, 'prefix'), prefix, isEnvVarName) : []),
      ...within(at, 'configMapRef', configMapRef, validateSourceName),
      ...within(at, 'secretRef', secretRef, validateSourceName),
    ];
    // Upstream names the list here, not the element.
    if (!configMapRef && !secretRef) {
      return [...errors, invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`')];
    }
    return configMapRef && secretRef ? [...errors, invalid(path, '', severalSources)] : errors;
  });

/** Upstream lets the name end in a dash here. */
const validateSourceName = (ref: { name?: string }, path: string): Errors =>
  requireName(child(path, 'name'), ref.name, asGeneratePrefix(isDns1123Subdomain));
