import type { Container, EphemeralContainer, PodSpec } from '@tinkernetes/api';
import {
  child,
  duplicate,
  forbidden,
  index,
  invalid,
  isDns1123Label,
  isRestartableInitContainer,
  required,
} from '@tinkernetes/apimachinery';
import { check, eachOf, requireName, requireOneOf } from '../rules';
import type { Errors } from '../rules';
import { validateEnv, validateEnvFrom } from './env';
import { validateVolumeDevices, validateVolumeMounts } from './mounts';
import type { Volumes } from './mounts';
import { hostPortConflicts, validateContainerPorts } from './ports';
import { validateLifecycle, validateProbes } from './probes';
import { validateResources } from './resources';
import { validateRestartRules } from './restart-rules';
import { validateSecurityContext } from './security';

const pullPolicies = ['Always', 'IfNotPresent', 'Never'];
const terminationPolicies = ['File', 'FallbackToLogsOnError'];

/** What containers refer to. */
export interface PodParts {
  readonly spec: PodSpec;
  readonly volumes: Volumes;
}

/** What holds for containers of every sort. Source: core/validation.validateContainerCommon. */
function validateCommon(container: Container, { spec, volumes }: PodParts, path: string): Errors {
  const image = container.image ?? '';
  const imagePath = child(path, 'image');
  return [
    ...requireName(child(path, 'name'), container.name, isDns1123Label),
    ...(image === '' ? [required(imagePath)] : []),
    ...requireOneOf(
      child(path, 'terminationMessagePolicy'),
      container.terminationMessagePolicy,
      terminationPolicies,
    ),
    ...validateContainerPorts(container.ports, child(path, 'ports')),
    ...validateEnv(container.env, child(path, 'env')),
    ...validateEnvFrom(container.envFrom, child(path, 'envFrom')),
    ...validateVolumeMounts(container, volumes, child(path, 'volumeMounts')),
    ...validateVolumeDevices(container, volumes, child(path, 'volumeDevices')),
    ...requireOneOf(child(path, 'imagePullPolicy'), container.imagePullPolicy, pullPolicies),
    ...validateResources(container.resources, child(path, 'resources')),
    ...validateClaimsOf(container, spec, child(path, 'resources', 'claims')),
    ...validateResizePolicy(container.resizePolicy, spec, child(path, 'resizePolicy')),
    ...validateSecurityContext(container.securityContext, child(path, 'securityContext'), spec),
  ];
}

/** Templates may have it otherwise. Source: core/validation.validateContainersOnlyForPod. */
export const validateImageSpaces = (containers: readonly Container[] | undefined, path: string): Errors =>
  eachOf(path, containers, imageSpaces);

function imageSpaces({ image = '' }: { image?: string }, path: string): Errors {
  if (image === image.trim()) return [];
  return [invalid(child(path, 'image'), image, 'must not have leading or trailing whitespace')];
}

/** Source: core/validation.validateContainerResourceRequirements. */
export function validateClaimsOf(
  { resources }: Pick<Container, 'resources'>,
  spec: PodSpec,
  path: string,
): Errors {
  const known = [...new Set((spec.resourceClaims ?? []).map(({ name }) => name).filter(Boolean))];
  const where =
    known.length === 0
      ? 'must be one of the names in pod.spec.resourceClaims which is empty'
      : `must be one of the names in pod.spec.resourceClaims: ${[...known].sort().join(', ')}`;
  // A claim as a whole includes each of its requests.
  const whole = new Set<string>();
  const requested = new Map<string, Set<string>>();
  return eachOf(path, resources?.claims, ({ name, request = '' }, at) => {
    if (!name) return [required(at)];
    const requests = requested.get(name) ?? new Set();
    const errors = request && !whole.has(name) ? check(child(at, 'request'), request, isDns1123Label) : [];
    if (whole.has(name) || (!request && requests.size > 0)) errors.push(duplicate(at, name));
    else if (requests.has(request)) errors.push(duplicate(at, `${name}/${request}`));
    if (request) requested.set(name, requests.add(request));
    else whole.add(name);
    if (!known.includes(name))
      errors.push({ reason: 'FieldValueNotFound', field: at, message: `Not found: "${name}": ${where}` });
    return errors;
  });
}

/** Source: core/validation.validateResizePolicy, which names the list, not the element. */
function validateResizePolicy(policies: Container['resizePolicy'], spec: PodSpec, path: string): Errors {
  const seen = new Set<string>();
  return eachOf(path, policies, ({ resourceName, restartPolicy }, at) => {
    const errors = seen.has(resourceName) ? [duplicate(at, resourceName)] : [];
    seen.add(resourceName);
    errors.push(
      ...requireOneOf(path, resourceName, ['cpu', 'memory']),
      ...requireOneOf(path, restartPolicy, ['NotRequired', 'RestartContainer']),
    );
    if (spec.restartPolicy === 'Never' && restartPolicy !== 'NotRequired') {
      const detail = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
      errors.push(invalid(path, restartPolicy, detail));
    }
    return errors;
  });
}

/** Hooks and probes. */
function validateActions(container: Container, path: string, graceSeconds: number): Errors {
  return [
    ...validateLifecycle(container.lifecycle, child(path, 'lifecycle'), graceSeconds),
    ...validateProbes(container, path, graceSeconds),
  ];
}

export function validateContainers({ spec, volumes }: PodParts, path: string): Errors {
  const containers = spec.containers ?? [];
  if (containers.length === 0) return [required(path)];
  const names = new Set<string>();
  const grace = spec.terminationGracePeriodSeconds ?? 0;
  const errors = eachOf(path, containers, (container, at) => {
    const isDuplicate = names.has(container.name);
    names.add(container.name);
    return [
      ...validateCommon(container, { spec, volumes }, at),
      ...(isDuplicate ? [duplicate(child(at, 'name'), container.name)] : []),
      ...validateActions(container, at, grace),
      ...validateRestartRules(container, at),
    ];
  });
  return [...errors, ...hostPortConflicts(containers, path)];
}

const onlyOfSidecars = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const;

export function validateInitContainers({ spec, volumes }: PodParts, path: string): Errors {
  const names = new Set(spec.containers?.map((container) => container.name));
  return eachOf(path, spec.initContainers, (container, at) => {
    const errors = validateCommon(container, { spec, volumes }, at);
    if (names.has(container.name)) errors.push(duplicate(child(at, 'name'), container.name));
    else if (container.name) names.add(container.name);
    // They run one by one: each is looked at alone, as if it were the first.
    errors.push(...hostPortConflicts([container], path));
    errors.push(...validateRestartRules(container, at, true));
    if (isRestartableInitContainer(container)) {
      return [...errors, ...validateActions(container, at, spec.terminationGracePeriodSeconds ?? 0)];
    }
    const misplaced = onlyOfSidecars.filter((name) => container[name] !== undefined);
    return [
      ...errors,
      ...misplaced.map((name) =>
        forbidden(child(at, name), 'may not be set for init containers without restartPolicy=Always'),
      ),
    ];
  });
}

const forbiddenForEphemeral = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
] as const;

/** Defaulting gives them empty resources. */
const isGiven = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : value !== undefined;

/** Source: core/validation.validateEphemeralContainers. */
export function validateEphemeralContainers({ spec, volumes }: PodParts, path: string): Errors {
  const regular = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(
    (container) => container.name,
  );
  const names = new Set(regular);
  return eachOf(path, spec.ephemeralContainers, (container: EphemeralContainer, at, i) => {
    const errors = validateCommon(container as Container, { spec, volumes }, at);
    if (names.has(container.name)) errors.push(duplicate(child(at, 'name'), container.name));
    names.add(container.name);
    errors.push(...imageSpaces(container, at));
    const target = container.targetContainerName;
    if (target && !regular.includes(target)) {
      errors.push({
        reason: 'FieldValueNotFound',
        field: child(index(path, i), 'targetContainerName'),
        message: `Not found: "${target}"`,
      });
    }
    return [
      ...errors,
      ...forbiddenForEphemeral
        .filter((name) => isGiven(container[name]))
        .map((name) => forbidden(child(at, name), 'cannot be set for an Ephemeral Container')),
      ...eachOf(child(at, 'volumeMounts'), container.volumeMounts, (mount, mountPath) =>
        (['subPath', 'subPathExpr'] as const)
          .filter((name) => mount[name])
          .map((name) => forbidden(child(mountPath, name), 'cannot be set for an Ephemeral Container')),
      ),
    ];
  });
}
