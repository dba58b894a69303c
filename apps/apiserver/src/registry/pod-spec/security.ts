import type { PodSpec, SeccompProfile, SecurityContext } from '@tinkernetes/api';
import { child, inclusiveRangeMessage, invalid, required } from '@tinkernetes/apimachinery';
import { eachOf, oneOf, requireOneOf, within } from '../rules';
import type { Errors } from '../rules';
import { hostNetworkPorts } from './ports';

const idRange = inclusiveRangeMessage(0, 2_147_483_647);
const userOrGroup = (path: string, id: number | undefined): Errors =>
  id !== undefined && (id < 0 || id > 2_147_483_647) ? [invalid(path, id, idRange)] : [];

function validateSeccomp(profile: SeccompProfile, path: string): Errors {
  const at = child(path, 'localhostProfile');
  const errors = requireOneOf(child(path, 'type'), profile.type, [
    'Localhost',
    'RuntimeDefault',
    'Unconfined',
  ]);
  if (profile.type === 'Localhost') {
    return profile.localhostProfile ? errors : [required(at, 'must be set when seccomp type is Localhost')];
  }
  return profile.localhostProfile === undefined
    ? errors
    : [...errors, invalid(at, profile.localhostProfile, 'can only be set when seccomp type is Localhost')];
}

/** Source: core/validation.ValidateSecurityContext. */
export function validateSecurityContext(context: SecurityContext | undefined, path: string): Errors {
  if (!context) return [];
  const errors = [
    ...userOrGroup(child(path, 'runAsUser'), context.runAsUser),
    ...userOrGroup(child(path, 'runAsGroup'), context.runAsGroup),
    ...oneOf(child(path, 'procMount'), context.procMount, ['Default', 'Unmasked']),
  ];
  if (context.allowPrivilegeEscalation === false) {
    if (context.privileged) {
      errors.push(
        invalid(path, context, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'),
      );
    }
    if (context.capabilities?.add?.includes('CAP_SYS_ADMIN')) {
      errors.push(
        invalid(
          path,
          context,
          'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN',
        ),
      );
    }
  }
  return [...errors, ...within(path, 'seccompProfile', context.seccompProfile, validateSeccomp)];
}

const sysctlSegment = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const sysctlName = new RegExp(`^(${sysctlSegment}[./])*${sysctlSegment}$`);

/** Source: core/validation.validatePodSpecSecurityContext. */
export function validatePodSecurity(spec: PodSpec, specPath: string): Errors {
  const context = spec.securityContext;
  const path = child(specPath, 'securityContext');
  const errors: Errors = [];
  if (spec.hostNetwork) {
    errors.push(...hostNetworkPorts(spec.containers, child(specPath, 'containers')));
  }
  if (spec.shareProcessNamespace && spec.hostPID) {
    const detail = 'ShareProcessNamespace and HostPID cannot both be enabled';
    errors.push(invalid(child(path, 'shareProcessNamespace'), spec.shareProcessNamespace, detail));
  }
  if (!context) return errors;
  return [
    ...errors,
    ...userOrGroup(child(path, 'fsGroup'), context.fsGroup),
    ...userOrGroup(child(path, 'runAsUser'), context.runAsUser),
    ...userOrGroup(child(path, 'runAsGroup'), context.runAsGroup),
    ...eachOf(child(path, 'supplementalGroups'), context.supplementalGroups, (id, at) => userOrGroup(at, id)),
    ...validateSysctls(context.sysctls, child(path, 'sysctls')),
    ...oneOf(child(path, 'fsGroupChangePolicy'), context.fsGroupChangePolicy, ['Always', 'OnRootMismatch']),
    ...within(path, 'seccompProfile', context.seccompProfile, validateSeccomp),
    ...oneOf(child(path, 'supplementalGroupsPolicy'), context.supplementalGroupsPolicy, ['Merge', 'Strict']),
  ];
}

function validateSysctls(
  sysctls: ReadonlyArray<{ name: string; value: string }> | undefined,
  path: string,
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
    }
    seen.add(name);
    return errors;
  });
}
