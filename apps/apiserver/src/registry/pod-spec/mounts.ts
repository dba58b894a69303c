import type { Container, Volume, VolumeDevice, VolumeMount } from '@tinkernetes/api';
import { child, forbidden, invalid, notFoundField, notSupported, required } from '@tinkernetes/apimachinery';
import { eachOf, oneOf } from '../rules';
import type { Errors } from '../rules';
import { localDescendingPath, noBacksteps } from './paths';

export type Volumes = ReadonlyMap<string, Volume>;

/** Source: core/validation.ValidateVolumeMounts. Sub-paths are reported without an index, as upstream does. */
export function validateVolumeMounts(container: Container, volumes: Volumes, path: string): Errors {
  const devices = container.volumeDevices ?? [];
  const seen = new Set<string>();
  return eachOf(path, container.volumeMounts, (mount, at) => {
    const errors: Errors = [];
    if (!mount.name) errors.push(required(child(at, 'name')));
    if (!volumes.has(mount.name)) errors.push(notFoundField(child(at, 'name'), mount.name));
    if (!mount.mountPath) errors.push(required(child(at, 'mountPath')));
    if (seen.has(mount.mountPath))
      errors.push(invalid(child(at, 'mountPath'), mount.mountPath, 'must be unique'));
    seen.add(mount.mountPath);
    return [
      ...errors,
      ...deviceClash(mount, devices, at),
      ...subPaths(mount, path, at),
      ...propagation(mount, container, path),
      ...recursiveReadOnly(mount, path),
    ];
  });
}

function deviceClash(mount: VolumeMount, devices: readonly VolumeDevice[], at: string): Errors {
  const errors: Errors = [];
  if (devices.some((device) => device.name === mount.name)) {
    errors.push(invalid(child(at, 'name'), mount.name, 'must not already exist in volumeDevices'));
  }
  if (devices.some((device) => device.devicePath === mount.mountPath)) {
    errors.push(
      invalid(child(at, 'mountPath'), mount.mountPath, 'must not already exist as a path in volumeDevices'),
    );
  }
  return errors;
}

function mountClash({ name, devicePath }: VolumeDevice, mounts: readonly VolumeMount[], at: string): Errors {
  const errors: Errors = [];
  if (mounts.some((mount) => mount.name === name))
    errors.push(invalid(child(at, 'name'), name, 'must not already exist in volumeMounts'));
  if (mounts.some((mount) => mount.mountPath === devicePath)) {
    const detail = 'must not already exist as a path in volumeMounts';
    errors.push(invalid(child(at, 'devicePath'), devicePath, detail));
  }
  return errors;
}

function subPaths(mount: VolumeMount, path: string, at: string): Errors {
  const errors: Errors = [];
  if (mount.subPath) errors.push(...localDescendingPath(child(path, 'subPath'), mount.subPath));
  if (mount.subPathExpr) {
    if (mount.subPath) {
      errors.push(
        invalid(
          child(at, 'subPathExpr'),
          mount.subPathExpr,
          'subPathExpr and subPath are mutually exclusive',
        ),
      );
    }
    errors.push(...localDescendingPath(child(path, 'subPathExpr'), mount.subPathExpr));
  }
  return errors;
}

function propagation(mount: VolumeMount, container: Container, path: string): Errors {
  const mode = mount.mountPropagation;
  const at = child(path, 'mountPropagation');
  const errors = oneOf(at, mode, ['Bidirectional', 'HostToContainer', 'None']);
  if (mode === 'Bidirectional' && !container.securityContext?.privileged) {
    return [
      ...errors,
      {
        reason: 'FieldValueForbidden',
        field: at,
        message: 'Forbidden: Bidirectional mount propagation is available only to privileged containers',
      },
    ];
  }
  return errors;
}

/** Source: core/validation.validateMountRecursiveReadOnly. */
function recursiveReadOnly(mount: VolumeMount, path: string): Errors {
  const mode = mount.recursiveReadOnly;
  const at = child(path, 'recursiveReadOnly');
  if (mode === undefined || mode === 'Disabled') return [];
  if (mode !== 'Enabled' && mode !== 'IfPossible')
    return [notSupported(at, mode, ['Disabled', 'Enabled', 'IfPossible'])];
  if (!mount.readOnly) return [forbidden(at, 'may only be specified when readOnly is true')];
  return mount.mountPropagation === undefined || mount.mountPropagation === 'None'
    ? []
    : [forbidden(at, 'may only be specified when mountPropagation is None or not specified')];
}

/** Source: core/validation.ValidateVolumeDevices. */
export function validateVolumeDevices(container: Container, volumes: Volumes, path: string): Errors {
  const names = new Set<string>();
  const paths = new Set<string>();
  return eachOf(path, container.volumeDevices, (device, at) => {
    const errors: Errors = [];
    if (!device.name) errors.push(required(child(at, 'name')));
    if (names.has(device.name)) errors.push(invalid(child(at, 'name'), device.name, 'must be unique'));
    const volume = volumes.get(device.name);
    if (volume && !volume.persistentVolumeClaim && !volume.ephemeral) {
      errors.push(
        invalid(
          child(at, 'name'),
          device.name,
          'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
        ),
      );
    }
    if (!volume) errors.push(notFoundField(child(at, 'name'), device.name));
    const devicePath = child(at, 'devicePath');
    if (!device.devicePath) errors.push(required(devicePath));
    if (paths.has(device.devicePath)) errors.push(invalid(devicePath, device.devicePath, 'must be unique'));
    if (noBacksteps(devicePath, device.devicePath ?? '').length > 0)
      errors.push(invalid(devicePath, device.devicePath, "can not contain backsteps ('..')"));
    else paths.add(device.devicePath);
    if (device.name) names.add(device.name);
    return [...errors, ...mountClash(device, container.volumeMounts ?? [], at)];
  });
}
