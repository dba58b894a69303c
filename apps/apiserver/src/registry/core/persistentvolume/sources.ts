import type { PersistentVolumeSpec, SecretReference } from '@tinkernetes/api';
import { child, isDns1123Label, isDns1123Subdomain } from '@tinkernetes/apimachinery';
import { noBacksteps } from '../../pod-spec/paths';
import { sharedSourceRules, validateCsiDriverName } from '../../pod-spec/volume-sources';
import { requireName, requireValue, within } from '../../rules';
import type { Errors } from '../../rules';

const csiSecrets = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodePublishSecretRef',
  'nodeExpandSecretRef',
] as const;

const validateCsiSecret = (secret: SecretReference, path: string): Errors => [
  ...requireName(child(path, 'name'), secret.name, isDns1123Subdomain),
  ...requireName(child(path, 'namespace'), secret.namespace, isDns1123Label),
];

/** What holds for each source of a volume, by its field. Source: core/validation.ValidatePersistentVolumeSpec. */
export const sourceRules = {
  ...sharedSourceRules,
  local: (source: NonNullable<PersistentVolumeSpec['local']>, path: string): Errors => [
    ...requireValue(child(path, 'path'), source.path),
    ...noBacksteps(child(path, 'path'), source.path ?? ''),
  ],
  csi: (source: NonNullable<PersistentVolumeSpec['csi']>, path: string): Errors => [
    ...validateCsiDriverName(source.driver, child(path, 'driver')),
    ...requireValue(child(path, 'volumeHandle'), source.volumeHandle),
    ...csiSecrets.flatMap((name) => within(path, name, source[name], validateCsiSecret)),
  ],
  iscsi: (source: NonNullable<PersistentVolumeSpec['iscsi']>, path: string): Errors => [
    // Upstream says less of the form here than of Pods' volumes.
    ...sharedSourceRules
      .iscsi(source as Parameters<typeof sharedSourceRules.iscsi>[0], path)
      .map((error) => ({
        ...error,
        message: error.message.replace(/(must be valid format) starting with .*/, '$1'),
      })),
    ...(source.secretRef ? requireValue(child(path, 'secretRef', 'name'), source.secretRef.name) : []),
  ],
};
