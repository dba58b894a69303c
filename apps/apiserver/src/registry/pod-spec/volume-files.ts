import type { KeyToPath, ProjectedVolumeSource, Volume } from '@tinkernetes/api';
import { child, forbidden, invalid, required } from '@tinkernetes/apimachinery';
import { eachOf, requireValue, within } from '../rules';
import type { Errors } from '../rules';
import { validateFieldRef, validateResourceFieldRef, volumeFieldPaths } from './field-references';
import { localNonReservedPath } from './paths';

const fileModeMessage = 'must be a number between 0 and 0777 (octal), both inclusive';

export function fileMode(path: string, mode: number | undefined): Errors {
  return mode !== undefined && (mode < 0 || mode > 0o777) ? [invalid(path, mode, fileModeMessage)] : [];
}

export function validateFiles(source: { defaultMode?: number; items?: KeyToPath[] }, path: string): Errors {
  return [
    ...fileMode(child(path, 'defaultMode'), source.defaultMode),
    ...eachOf(child(path, 'items'), source.items, validateKeyToPath),
  ];
}

function validateKeyToPath(item: KeyToPath, path: string): Errors {
  return [
    ...requireValue(child(path, 'key'), item.key),
    ...(item.path ? localNonReservedPath(child(path, 'path'), item.path) : [required(child(path, 'path'))]),
    ...fileMode(child(path, 'mode'), item.mode),
  ];
}

export function downwardItems(items: NonNullable<Volume['downwardAPI']>['items'], path: string): Errors {
  return (items ?? []).flatMap((item) => {
    const errors = item.path
      ? localNonReservedPath(child(path, 'path'), item.path)
      : [required(child(path, 'path'))];
    if (item.fieldRef) {
      errors.push(...validateFieldRef(item.fieldRef, child(path, 'fieldRef'), volumeFieldPaths));
      if (item.resourceFieldRef) {
        errors.push(
          invalid(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'),
        );
      }
    } else if (item.resourceFieldRef) {
      errors.push(...validateResourceFieldRef(item.resourceFieldRef, child(path, 'resourceFieldRef'), true));
    } else {
      errors.push(required(path, 'one of fieldRef and resourceFieldRef is required'));
    }
    return [...errors, ...fileMode(child(path, 'mode'), item.mode)];
  });
}

/** Source: core/validation.validateProjectionSources. */
export function validateProjected(source: ProjectedVolumeSource, path: string): Errors {
  const taken = new Set<string>();
  // No two files in the same place; upstream reports the volume, by the source's name or the file's.
  const unique = (file: string | undefined, name: string): Errors => {
    const isTaken = file && taken.has(file);
    if (file) taken.add(file);
    return isTaken ? [invalid(path, name, 'conflicting duplicate paths')] : [];
  };
  const files = (from: { name?: string; items?: KeyToPath[] }, at: string): Errors => [
    ...requireValue(child(at, 'name'), from.name),
    ...eachOf(child(at, 'items'), from.items, (item, itemPath) => [
      ...validateKeyToPath(item, itemPath),
      ...unique(item.path, from.name ?? ''),
    ]),
  ];
  return [
    ...fileMode(child(path, 'defaultMode'), source.defaultMode),
    ...eachOf(child(path, 'sources'), source.sources, (projection, at) => {
      const { secret, configMap, downwardAPI, serviceAccountToken: token } = projection;
      const count = [secret, configMap, downwardAPI, token].filter((part) => part !== undefined).length;
      return [
        ...within(at, 'secret', secret, files),
        ...within(at, 'configMap', configMap, files),
        ...within(at, 'downwardAPI', downwardAPI, ({ items = [] }, itemPath) =>
          items.flatMap((item) => [...downwardItems([item], itemPath), ...unique(item.path, item.path)]),
        ),
        ...within(at, 'serviceAccountToken', token, (given, tokenPath) =>
          validateToken(given, tokenPath, path),
        ),
        ...(count > 1 ? [forbidden(at, 'may not specify more than 1 volume type per source')] : []),
      ];
    }),
  ];
}

const tokenSecondsMin = 600;

function validateToken(
  token: { path: string; expirationSeconds?: number },
  path: string,
  volumePath: string,
): Errors {
  const errors: Errors = [];
  const seconds = token.expirationSeconds ?? tokenSecondsMin;
  const at = child(path, 'expirationSeconds');
  if (seconds < tokenSecondsMin)
    errors.push(invalid(at, seconds, 'may not specify a duration less than 10 minutes'));
  if (seconds > 2 ** 32)
    errors.push(invalid(at, seconds, 'may not specify a duration larger than 2^32 seconds'));
  // Upstream reports the path beside the sources.
  const file = child(volumePath, 'path');
  return [...errors, ...(token.path ? localNonReservedPath(file, token.path) : [required(file)])];
}
