import type { Container, EphemeralContainer, PodSpec } from '@tinkernetes/api';
import {
  child,
  duplicate,
  forbidden,
  index,
  invalid,
  isDns1123Label,
  isRestartableInitContainer,
  notSupported,
  required,
} from '@tinkernetes/apimachinery';
import { eachOf, requireName, requireOneOf } from '../rules';
import type { Errors } from '../rules';
import { validateEnv, validateEnvFrom } from './env';
import { validateVolumeDevices, validateVolumeMounts } from './mounts';
import type { Volumes } from './mounts';
import { hostPortConflicts, validateContainerPorts } from './ports';
import { validateLifecycle, validateProbes } from './probes';
import { validateResources } from './resources';
import { validateSecurityContext } from './security';

const pullPolicies = ['Always', 'IfNotPresent', 'Never'];
const terminationPolicies = ['File', 'FallbackToLogsOnError'];

/** What holds for containers of every sort. Source: core/validation.validateContainerCommon. */
function validateCommon(container: Container, volumes: Volumes, path: string): Errors {
  const image = container.image ?? '';
  const imagePath = child(path, 'image');
  return [
    ...requireName(child(path, 'name'), container.name, isDns1123Label),
    ...(image === '' ? [required(imagePath)] : []),
    ...(image === image.trim()
      ? []
      : [invalid(imagePath, image, 'must not have leading or trailing whitespace')]),
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
    ...validateSecurityContext(container.securityContext, child(path, 'securityContext')),
  ];
}

/** Hooks and probes. */
function validateActions(container: Container, path: string, graceSeconds: number): Errors {
  return [
    ...validateLifecycle(container.lifecycle, child(path, 'lifecycle'), graceSeconds),
    ...validateProbes(container, path, graceSeconds),
  ];
}

export function validateContainers(spec: PodSpec, volumes: Volumes, path: string): Errors {
  const containers = spec.containers ?? [];
  if (containers.length === 0) return [required(path)];
  const names = new Set<string>();
  const grace = spec.terminationGracePeriodSeconds ?? 0;
  const errors = eachOf(path, containers, (container, at) => {
    const isDuplicate = names.has(container.name);
    names.add(container.name);
    return [
      ...validateCommon(container, volumes, at),
      ...(isDuplicate ? [duplicate(child(at, 'name'), container.name)] : []),
      ...validateActions(container, at, grace),
      ...(container.restartPolicy === undefined
        ? []
        : requireOneOf(child(at, 'restartPolicy'), container.restartPolicy, [
            'Always',
            'Never',
            'OnFailure',
          ])),
    ];
  });
  return [...errors, ...hostPortConflicts(containers, path)];
}

const onlyOfSidecars = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const;

export function validateInitContainers(spec: PodSpec, volumes: Volumes, path: string): Errors {
  const names = new Set(spec.containers?.map((container) => container.name));
  return eachOf(path, spec.initContainers, (container, at) => {
    const errors = validateCommon(container, volumes, at);
    if (names.has(container.name)) errors.push(duplicate(child(at, 'name'), container.name));
    else if (container.name) names.add(container.name);
    if (container.restartPolicy !== undefined && container.restartPolicy !== 'Always') {
      errors.push(notSupported(child(at, 'restartPolicy'), container.restartPolicy, ['Always']));
    }
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
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
] as const;

/** Source: core/validation.validateEphemeralContainers. */
export function validateEphemeralContainers(spec: PodSpec, volumes: Volumes, path: string): Errors {
  const regular = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(
    (container) => container.name,
  );
  const names = new Set(regular);
  return eachOf(path, spec.ephemeralContainers, (container: EphemeralContainer, at, i) => {
    const errors = validateCommon(container as Container, volumes, at);
    if (names.has(container.name)) errors.push(duplicate(child(at, 'name'), container.name));
    names.add(container.name);
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
        .filter((name) => container[name] !== undefined)
        .map((name) => forbidden(child(at, name), 'cannot be set for an Ephemeral Container')),
    ];
  });
}
