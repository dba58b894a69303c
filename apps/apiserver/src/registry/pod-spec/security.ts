import type { AppArmorProfile, PodSpec, SeccompProfile, SecurityContext } from '@tinkernetes/api';
import {
  child,
  forbidden,
  inclusiveRangeMessage,
  invalid,
  notSupported,
  required,
} from '@tinkernetes/apimachinery';
import { goStruct } from '../go-struct';
import { eachOf, oneOf, within } from '../rules';
import type { Errors } from '../rules';
import { localDescendingPath } from './paths';
import { placedContainers } from './placed-containers';
import { validateWindowsOptions } from './windows';

const idRange = inclusiveRangeMessage(0, 2_147_483_647);
const userOrGroup = (path: string, id: number | undefined): Errors =>
  id !== undefined && (id < 0 || id > 2_147_483_647) ? [invalid(path, id, idRange)] : [];

function validateSeccomp(profile: SeccompProfile, path: string): Errors {
  const at = child(path, 'localhostProfile');
  const typePath = child(path, 'type');
  const { type, localhostProfile: local } = profile;
  const errors = type
    ? oneOf(typePath, type, ['Localhost', 'RuntimeDefault', 'Unconfined'])
    : [required(typePath, 'type is required when seccompProfile is set')];
  if (type === 'Localhost') {
    return local === undefined
      ? [...errors, required(at, 'must be set when seccomp type is Localhost')]
      : [...errors, ...localDescendingPath(at, local)];
  }
  const shown = { Type: type ?? '', LocalhostProfile: local };
  return local === undefined
    ? errors
    : [...errors, invalid(at, shown, 'can only be set when seccomp type is Localhost')];
}

/** Source: core/validation.ValidateAppArmorProfileField. */
function validateAppArmor(profile: AppArmorProfile, path: string): Errors {
  const at = child(path, 'localhostProfile');
  const { type, localhostProfile: local } = profile;
  switch (type as string | undefined) {
    case 'Localhost':
      if (!local?.trim() && local === local?.trim())
        return [required(at, 'must be set when AppArmor type is Localhost')];
      return local === local?.trim() ? [] : [invalid(at, local, 'must not be padded with whitespace')];
    case 'RuntimeDefault':
    case 'Unconfined':
      return local === undefined
        ? []
        : [invalid(at, local, 'can only be set when AppArmor type is Localhost')];
    case undefined:
    case '':
      return [required(child(path, 'type'), 'type is required when appArmorProfile is set')];
    default:
      return [notSupported(child(path, 'type'), type, ['Localhost', 'RuntimeDefault', 'Unconfined'])];
  }
}

/** Source: core/validation.ValidateSecurityContext. */
export function validateSecurityContext(
  context: SecurityContext | undefined,
  path: string,
  { hostUsers = true }: Pick<PodSpec, 'hostUsers'>,
): Errors {
  if (!context) return [];
  const errors = [
    ...userOrGroup(child(path, 'runAsUser'), context.runAsUser),
    ...userOrGroup(child(path, 'runAsGroup'), context.runAsGroup),
    ...oneOf(child(path, 'procMount'), context.procMount, ['Default', 'Unmasked']),
  ];
  if (hostUsers && context.procMount === 'Unmasked') {
    const detail = '`hostUsers` must be false to use `Unmasked`';
    errors.push(invalid(child(path, 'procMount'), context.procMount, detail));
  }
  if (context.allowPrivilegeEscalation === false) {
    if (context.privileged) {
      errors.push(
        invalid(
          path,
          goStruct(context, 'SecurityContext'),
          'cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
        ),
      );
    }
    if (context.capabilities?.add?.includes('CAP_SYS_ADMIN')) {
      errors.push(
        invalid(
          path,
          goStruct(context, 'SecurityContext'),
          'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN',
        ),
      );
    }
  }
  return [
    ...errors,
    ...within(path, 'seccompProfile', context.seccompProfile, validateSeccomp),
    ...within(path, 'windowsOptions', context.windowsOptions, validateWindowsOptions),
    ...within(path, 'appArmorProfile', context.appArmorProfile, validateAppArmor),
  ];
}

const sysctlSegment = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const sysctlName = new RegExp(`^(${sysctlSegment}[./])*${sysctlSegment}$`);

/** Source: core/validation.validatePodSpecSecurityContext. */
export function validatePodSecurity(spec: PodSpec, specPath: string): Errors {
  const context = spec.securityContext;
  const path = child(specPath, 'securityContext');
  const sharing =
    spec.shareProcessNamespace && spec.hostPID
      ? [
          invalid(
            child(path, 'shareProcessNamespace'),
            true,
            'ShareProcessNamespace and HostPID cannot both be enabled',
          ),
        ]
      : [];
  if (!context) return sharing;
  return [
    ...userOrGroup(child(path, 'fsGroup'), context.fsGroup),
    ...userOrGroup(child(path, 'runAsUser'), context.runAsUser),
    ...userOrGroup(child(path, 'runAsGroup'), context.runAsGroup),
    ...eachOf(child(path, 'supplementalGroups'), context.supplementalGroups, (id, at) => userOrGroup(at, id)),
    ...sharing,
    ...validateSysctls(context.sysctls, child(path, 'sysctls'), spec),
    ...oneOf(child(path, 'fsGroupChangePolicy'), context.fsGroupChangePolicy, ['Always', 'OnRootMismatch']),
    ...within(path, 'seccompProfile', context.seccompProfile, validateSeccomp),
    ...within(path, 'windowsOptions', context.windowsOptions, validateWindowsOptions),
    ...within(path, 'appArmorProfile', context.appArmorProfile, validateAppArmor),
    ...oneOf(child(path, 'supplementalGroupsPolicy'), context.supplementalGroupsPolicy, ['Merge', 'Strict']),
    // MountOption comes with a feature that is off.
    ...oneOf(child(path, 'seLinuxChangePolicy'), context.seLinuxChangePolicy, ['Recursive']),
  ];
}

/** A Pod with users of its own shares nothing else with the host. Source: core/validation.validateHostUsers. */
export function validateHostUsers(spec: PodSpec, path: string): Errors {
  if (spec.hostUsers !== false) return [];
  const detail = 'when `hostUsers` is false';
  // The spelling is upstream's.
  const shared = [
    ['hostNetwork', spec.hostNetwork],
    ['HostPID', spec.hostPID],
    ['HostIPC', spec.hostIPC],
  ] as const;
  return [
    ...shared.filter(([, isShared]) => isShared).map(([name]) => forbidden(child(path, name), detail)),
    ...placedContainers(spec, path).flatMap(([{ volumeDevices }, at]) =>
      volumeDevices?.length ? [forbidden(child(at, 'volumeDevices'), detail)] : [],
    ),
  ];
}

function validateSysctls(
  sysctls: ReadonlyArray<{ name: string; value: string }> | undefined,
  path: string,
  spec: PodSpec,
): Errors {
  const seen = new Set<string>();
  return eachOf(path, sysctls, ({ name }, at) => {
    const errors: Errors = [];
    if (!name) errors.push(required(child(at, 'name')));
    else if (name.length > 253 || !sysctlName.test(name)) {
      const detail = `must have at most 253 characters and match regex ^(${sysctlSegment}[\\./])*${sysctlSegment}$`;
      errors.push(invalid(child(at, 'name'), name, detail));
    } else if (seen.has(name)) {
      errors.push({
        reason: 'FieldValueDuplicate',
        field: child(at, 'name'),
        message: `Duplicate value: "${name}"`,
      });
    } else {
      for (const flag of sharedWithHost(name))
        if (spec[flag])
          errors.push(invalid(child(at, 'name'), name, `may not be specified when '${flag}' is true`));
    }
    seen.add(name);
    return errors;
  });
}

/** Namespaces whose kernel parameters are the host's when they are shared with it. */
function sharedWithHost(sysctl: string): ReadonlyArray<'hostNetwork' | 'hostIPC'> {
  const name = sysctl.replaceAll('/', '.');
  if (name.startsWith('net.')) return ['hostNetwork'];
  const isIpc =
    name.startsWith('kernel.shm') ||
    name.startsWith('kernel.msg') ||
    name.startsWith('fs.mqueue.') ||
    name === 'kernel.sem';
  return isIpc ? ['hostIPC'] : [];
}
