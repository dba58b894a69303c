import type { PodSpec, WindowsSecurityContextOptions } from '@tinkernetes/api';
import { child, forbidden, invalid, isDns1123Subdomain } from '@tinkernetes/apimachinery';
import { check } from '../rules';
import type { Errors } from '../rules';
import { placedContainers } from './placed-containers';

/** What only Windows knows. Source: core/validation.validateLinux. */
export function validateLinuxPod(spec: PodSpec, path: string): Errors {
  const detail = 'windows options cannot be set for a linux pod';
  const contexts = [
    [spec.securityContext, child(path, 'securityContext')] as const,
    ...placedContainers(spec, path).map(
      ([container, at]) => [container.securityContext, child(at, 'securityContext')] as const,
    ),
  ];
  return contexts.flatMap(([context, at]) =>
    context?.windowsOptions ? [forbidden(child(at, 'windowsOptions'), detail)] : [],
  );
}

/** What Windows does not know, in the order in which upstream looks. Source: core/validation.validateWindows. */
export function validateWindowsPod(spec: PodSpec, path: string): Errors {
  const security = spec.securityContext ?? {};
  const inSecurity = (name: keyof typeof security) =>
    [child(path, 'securityContext', name), security[name] !== undefined] as const;
  const ofPod = [
    inSecurity('appArmorProfile'),
    inSecurity('seLinuxOptions'),
    [child(path, 'hostUsers'), spec.hostUsers !== undefined],
    [child(path, 'hostPID'), spec.hostPID === true],
    [child(path, 'hostIPC'), spec.hostIPC === true],
    inSecurity('seccompProfile'),
    inSecurity('fsGroup'),
    inSecurity('fsGroupChangePolicy'),
    [child(path, 'securityContext', 'sysctls'), (security.sysctls?.length ?? 0) > 0],
    [child(path, 'shareProcessNamespace'), spec.shareProcessNamespace !== undefined],
    inSecurity('runAsUser'),
    inSecurity('runAsGroup'),
    inSecurity('supplementalGroups'),
    inSecurity('supplementalGroupsPolicy'),
    inSecurity('seLinuxChangePolicy'),
  ] as const;
  const ofContainers = placedContainers(spec, path).flatMap(([{ securityContext = {} }, at]) =>
    unknownToWindows.map(
      (name) => [child(at, 'securityContext', name), securityContext[name] !== undefined] as const,
    ),
  );
  return [...ofPod, ...ofContainers]
    .filter(([, isSet]) => isSet)
    .map(([field]) => forbidden(field, 'cannot be set for a windows pod'));
}

const unknownToWindows = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
] as const;

/** Containers that are the host's processes: all or none. Source: core/validation.validateWindowsHostProcessPod. */
export function validateHostProcesses(spec: PodSpec, path: string): Errors {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess;
  const containers = placedContainers(spec, path);
  const errors: Errors = [];
  let count = 0;
  for (const [container, at] of containers) {
    const own = container.securityContext?.windowsOptions?.hostProcess;
    if (own !== undefined && ofPod !== undefined && own !== ofPod) {
      const detail = `pod hostProcess value must be identical if both are specified, was ${ofPod}`;
      errors.push(invalid(child(at, 'securityContext', 'windowsOptions', 'hostProcess'), own, detail));
    }
    if (own ?? ofPod) count += 1;
  }
  if (count === 0) return errors;
  if (count !== containers.length) {
    const detail =
      'If pod contains any hostProcess containers then all containers must be HostProcess containers';
    errors.push(invalid(path, '', detail));
  }
  if (!spec.hostNetwork) {
    const detail = 'hostNetwork must be true if pod contains any hostProcess containers';
    errors.push(invalid(child(path, 'hostNetwork'), false, detail));
  }
  return errors;
}

const maxCredentialKiB = 64;
const maxDomainLength = 256;
const maxUserLength = 104;
const netBiosName = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const dnsLabel = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';
const dnsName = new RegExp(`^${dnsLabel}(?:\\.${dnsLabel})*$`);

/** Source: core/validation.validateWindowsSecurityContextOptions. */
export function validateWindowsOptions(
  { gmsaCredentialSpecName: name, gmsaCredentialSpec: spec, runAsUserName }: WindowsSecurityContextOptions,
  path: string,
): Errors {
  const errors =
    name === undefined ? [] : check(child(path, 'gmsaCredentialSpecName'), name, isDns1123Subdomain);
  const at = child(path, 'gmsaCredentialSpec');
  if (spec === '') errors.push(invalid(at, spec, 'gmsaCredentialSpec cannot be an empty string'));
  else if (spec !== undefined && Buffer.byteLength(spec) > maxCredentialKiB * 1024)
    errors.push(invalid(at, spec, `gmsaCredentialSpec size must be under ${maxCredentialKiB} KiB`));
  if (runAsUserName === undefined) return errors;
  return [...errors, ...check(child(path, 'runAsUserName'), runAsUserName, windowsUserProblems)];
}

/** Of `user` or `domain\user`. */
function windowsUserProblems(name: string): string[] {
  if (name === '') return ['runAsUserName cannot be an empty string'];
  if (/\p{Cc}/u.test(name)) return ['runAsUserName cannot contain control characters'];
  const parts = name.split('\\');
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash'];
  const [domain, user = ''] = parts.length === 2 ? parts : [undefined, parts[0]];
  const errors: string[] = [];
  if (domain !== undefined && domain.length >= maxDomainLength)
    errors.push(`runAsUserName's Domain length must be under ${maxDomainLength} characters`);
  if (domain !== undefined && !netBiosName.test(domain) && !dnsName.test(domain))
    errors.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
  if (user === '') errors.push("runAsUserName's User cannot be empty");
  else if (user.length > maxUserLength)
    errors.push(`runAsUserName's User length must not be longer than ${maxUserLength} characters`);
  if (/["/\\:;|=,+*?<>@[\]]/.test(user))
    errors.push(`runAsUserName's User cannot contain the following characters: "/\\:;|=,+*?<>@[]`);
  if (/^[. ]+$/.test(user)) errors.push("runAsUserName's User cannot contain only periods or spaces");
  return errors;
}
