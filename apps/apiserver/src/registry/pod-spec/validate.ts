import type { PodDNSConfig, PodSpec, PodTemplateSpec } from '@tinkernetes/api';
import {
  child,
  duplicate,
  forbidden,
  inclusiveRangeMessage,
  invalid,
  isDns1123Label,
  isDns1123Subdomain,
  isDns1123SubdomainWithUnderscore,
  isQualifiedName,
  isValidIp,
  required,
  tooLong,
  validateAnnotations,
  validateLabels,
} from '@tinkernetes/apimachinery';
import { check, eachOf, oneOf, requireOneOf, within } from '../rules';
import type { Errors } from '../rules';
import { validatePodAnnotations } from './annotations';
import { validateContainers, validateEphemeralContainers, validateInitContainers } from './containers';
import { validateFileKeyVolumes } from './env';
import { validatePodLevelResources } from './pod-level-resources';
import { hostNetworkPorts } from './ports';
import { validateResources } from './resources';
import { validateAffinity, validateTolerations, validateTopologySpread } from './scheduling';
import { validateHostUsers, validatePodSecurity } from './security';
import { validateVolumes } from './volumes';
import { validateHostProcesses, validateLinuxPod, validateWindowsPod } from './windows';

const maxInt32 = 2_147_483_647;

/** Rules of the specification that Pods and Pod templates share. Source: core/validation.ValidatePodSpec. */
export function validatePodSpec(spec: PodSpec, path: string, podName?: string): Errors {
  const volumes = validateVolumes(spec.volumes, child(path, 'volumes'), podName);
  const parts = { spec, volumes: volumes.byName };
  const optional = (name: 'serviceAccountName' | 'nodeName' | 'priorityClassName') =>
    spec[name] ? check(child(path, name), spec[name], isDns1123Subdomain) : [];
  return [
    ...volumes.errors,
    ...validateResourceClaims(spec.resourceClaims, child(path, 'resourceClaims')),
    ...validateContainers(parts, child(path, 'containers')),
    ...validateInitContainers(parts, child(path, 'initContainers')),
    ...validateEphemeralContainers(parts, child(path, 'ephemeralContainers')),
    ...validatePodLevelResources(spec, child(path, 'resources')),
    ...validateFileKeyVolumes(spec, path),
    ...(spec.hostNetwork ? hostNetworkPorts(spec.containers ?? [], child(path, 'containers')) : []),
    ...requireOneOf(child(path, 'restartPolicy'), spec.restartPolicy, ['Always', 'OnFailure', 'Never']),
    ...requireOneOf(child(path, 'dnsPolicy'), spec.dnsPolicy, [
      'ClusterFirstWithHostNet',
      'ClusterFirst',
      'Default',
      'None',
    ]),
    ...validateLabels(spec.nodeSelector, child(path, 'nodeSelector')),
    ...validatePodSecurity(spec, path),
    ...validateAffinity(spec.affinity, child(path, 'affinity')),
    ...validateDnsConfig(spec.dnsConfig, spec.dnsPolicy, child(path, 'dnsConfig')),
    ...eachOf(child(path, 'readinessGates'), spec.readinessGates, (gate, at) =>
      check(child(at, 'conditionType'), gate.conditionType, isQualifiedName),
    ),
    ...validateSchedulingGates(spec, child(path, 'schedulingGates')),
    ...validateTopologySpread(spec.topologySpreadConstraints, child(path, 'topologySpreadConstraints')),
    ...validateHostProcesses(spec, path),
    ...validateHostUsers(spec, path),
    ...validateHostnameOverride(spec, child(path, 'hostnameOverride')),
    ...optional('serviceAccountName'),
    ...optional('nodeName'),
    ...validateDeadline(spec.activeDeadlineSeconds, child(path, 'activeDeadlineSeconds')),
    ...(spec.hostname ? check(child(path, 'hostname'), spec.hostname, isDns1123Label) : []),
    ...(spec.subdomain ? check(child(path, 'subdomain'), spec.subdomain, isDns1123Label) : []),
    ...validateTolerations(spec.tolerations, child(path, 'tolerations')),
    ...validateHostAliases(spec.hostAliases, child(path, 'hostAliases')),
    ...optional('priorityClassName'),
    ...(spec.runtimeClassName === undefined
      ? []
      : check(child(path, 'runtimeClassName'), spec.runtimeClassName, isDns1123Subdomain)),
    ...oneOf(child(path, 'preemptionPolicy'), spec.preemptionPolicy, ['PreemptLowerPriority', 'Never']),
    ...within(path, 'overhead', spec.overhead, (limits, at) => validateResources({ limits }, at)),
    ...within(path, 'os', spec.os, (os, at) =>
      validateOs(spec, path, os.name ? oneOf(at, os.name, systems) : [required(child(at, 'name'))]),
    ),
  ];
}

const systems = ['linux', 'windows'];

/** What the system that the Pod names does not know, if it is one. */
function validateOs(spec: PodSpec, path: string, errors: Errors): Errors {
  if (errors.length > 0) return errors;
  return spec.os?.name === 'linux' ? validateLinuxPod(spec, path) : validateWindowsPod(spec, path);
}

/** Source: core/validation.validateHostnameOverride. */
function validateHostnameOverride(spec: PodSpec, path: string): Errors {
  const name = spec.hostnameOverride;
  if (name === undefined) return [];
  const clashes = (['setHostnameAsFQDN', 'hostNetwork'] as const).filter((field) => spec[field]);
  return [
    ...clashes.map((field) => forbidden(path, `may not be specified when ${field} is true`)),
    ...check(path, name, isDns1123Subdomain),
    ...(Buffer.byteLength(name) > maxHostnameLength ? [tooLong(path, maxHostnameLength)] : []),
  ];
}

const maxHostnameLength = 64;

function validateDeadline(seconds: number | undefined, path: string): Errors {
  if (seconds === undefined || (seconds >= 1 && seconds <= maxInt32)) return [];
  return [invalid(path, seconds, inclusiveRangeMessage(1, maxInt32))];
}

/** Source: core/validation.validatePodResourceClaims. */
function validateResourceClaims(claims: PodSpec['resourceClaims'], path: string): Errors {
  const names = new Set<string>();
  return eachOf(path, claims, (claim, at) => {
    const { name, resourceClaimName, resourceClaimTemplateName } = claim;
    const errors: Errors = [];
    if (!name) errors.push(required(child(at, 'name')));
    else if (names.has(name)) errors.push(duplicate(child(at, 'name'), name));
    else errors.push(...check(child(at, 'name'), name, isDns1123Label));
    names.add(name);
    const shown = {
      Name: name ?? '',
      ResourceClaimName: resourceClaimName ?? null,
      ResourceClaimTemplateName: resourceClaimTemplateName ?? null,
    };
    if (resourceClaimName !== undefined && resourceClaimTemplateName !== undefined) {
      const detail = 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified';
      errors.push(invalid(at, shown, detail));
    }
    if (resourceClaimName === undefined && resourceClaimTemplateName === undefined) {
      const detail = 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`';
      errors.push(invalid(at, shown, detail));
    }
    for (const field of ['resourceClaimName', 'resourceClaimTemplateName'] as const) {
      const given = claim[field];
      if (given !== undefined) errors.push(...check(child(at, field), given, isDns1123Subdomain));
    }
    return errors;
  });
}

function validateSchedulingGates(spec: PodSpec, path: string): Errors {
  const seen = new Set<string>();
  return eachOf(path, spec.schedulingGates, (gate, at) => {
    const isDuplicate = seen.has(gate.name);
    seen.add(gate.name);
    return [...check(at, gate.name, isQualifiedName), ...(isDuplicate ? [duplicate(at, gate.name)] : [])];
  });
}

const validateHostAliases = (aliases: PodSpec['hostAliases'], path: string): Errors =>
  eachOf(path, aliases, (alias, at) => [
    ...check(child(at, 'ip'), alias.ip, isValidIp),
    ...eachOf(child(at, 'hostnames'), alias.hostnames, (name, namePath) =>
      check(namePath, name, isDns1123Subdomain),
    ),
  ]);

const maxNameservers = 3;
const maxSearchPaths = 32;
const maxSearchLength = 2048;

function validateDnsConfig(
  config: PodDNSConfig | undefined,
  policy: string | undefined,
  path: string,
): Errors {
  const errors: Errors = [];
  const nameservers = config?.nameservers ?? [];
  if (policy === 'None' && !config) {
    return [required(path, 'must provide `dnsConfig` when `dnsPolicy` is None')];
  }
  if (policy === 'None' && nameservers.length === 0) {
    const detail = 'must provide at least one DNS nameserver when `dnsPolicy` is None';
    return [required(child(path, 'nameservers'), detail)];
  }
  if (!config) return errors;
  const searches = config.searches ?? [];
  if (nameservers.length > maxNameservers) {
    errors.push(
      invalid(
        child(path, 'nameservers'),
        nameservers,
        `must not have more than ${maxNameservers} nameservers`,
      ),
    );
  }
  errors.push(
    ...eachOf(child(path, 'nameservers'), nameservers, (address, at) => check(at, address, isValidIp)),
  );
  if (searches.length > maxSearchPaths) {
    errors.push(
      invalid(child(path, 'searches'), searches, `must not have more than ${maxSearchPaths} search paths`),
    );
  }
  if (searches.join(' ').length > maxSearchLength) {
    const detail = `must not have more than ${maxSearchLength} characters (including spaces) in the search list`;
    errors.push(invalid(child(path, 'searches'), searches, detail));
  }
  errors.push(
    ...eachOf(child(path, 'searches'), searches, (search, at) =>
      // A dot at the end is that of the root, and `.` alone stands for it.
      search === '.' ? [] : check(at, search.replace(/\.$/, ''), isDns1123SubdomainWithUnderscore),
    ),
  );
  const options = eachOf(child(path, 'options'), config.options, (option, at) =>
    option.name ? [] : [required(at, 'must not be empty')],
  );
  return [...errors, ...options];
}

/** Upstream leaves `metadata` out of the paths. */
export const validateTemplateMetadata = (template: PodTemplateSpec, path: string): Errors => [
  ...validateLabels(template.metadata?.labels, child(path, 'labels')),
  ...validateAnnotations(template.metadata?.annotations, child(path, 'annotations')),
  ...validatePodAnnotations(template, child(path, 'annotations')),
];

/** A template's metadata and specification. Source: core/validation.ValidatePodTemplateSpec. */
export function validatePodTemplate(template: PodTemplateSpec, path: string): Errors {
  const spec = template.spec ?? { containers: [] };
  return [
    ...validateTemplateMetadata(template, path),
    ...validatePodSpec(spec, child(path, 'spec')),
    ...(spec.ephemeralContainers?.length
      ? [
          {
            reason: 'FieldValueForbidden' as const,
            field: child(path, 'spec', 'ephemeralContainers'),
            message: 'Forbidden: ephemeral containers not allowed in pod template',
          },
        ]
      : []),
  ];
}
