import type { ResourceRequirements } from '@tinkernetes/api';
import {
  child,
  forbidden,
  invalid,
  isQualifiedName,
  mapKey,
  notSupported,
  Quantity,
  required,
  notNegativeMessage,
} from '@tinkernetes/apimachinery';
import { check } from '../rules';
import type { Errors } from '../rules';

export const isHugePages = (name: string): boolean => name.startsWith('hugepages-');
const standardContainerResources = new Set(['cpu', 'memory', 'ephemeral-storage']);
const standardResources = new Set([
  ...standardContainerResources,
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'storage',
  'services.nodeports',
  'services.loadbalancers',
]);

/** Prefixed names in kubernetes.io, and names without a prefix. */
const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/');
export function isExtendedResource(name: string): boolean {
  if (isNative(name) || name.startsWith('requests.')) return false;
  return isQualifiedName(`requests.${name}`).length === 0;
}

/** Only resources that may be promised more often than they are there. */
const isOvercommitAllowed = (name: string): boolean => isNative(name) && !isHugePages(name);

/** Source: core/validation.validateResourceName. */
export function validateResourceName(path: string, name: string): Errors {
  const errors = check(path, name, isQualifiedName);
  if (errors.length > 0 || name.includes('/') || standardResources.has(name) || isHugePages(name))
    return errors;
  return [invalid(path, name, 'must be a standard resource type or fully qualified')];
}

/** Source: core/validation.validateContainerResourceName. */
export function validateContainerResourceName(path: string, name: string): Errors {
  const errors = validateResourceName(path, name);
  if (!name.includes('/')) {
    const isStandard = standardContainerResources.has(name) || isHugePages(name);
    return [
      ...errors,
      ...(isStandard ? [] : [invalid(path, name, 'must be a standard resource for containers')]),
    ];
  }
  if (!isNative(name) && !isExtendedResource(name)) {
    return [...errors, invalid(path, name, "doesn't follow extended resource name standard")];
  }
  return errors;
}

const countedResources = new Set([
  'pods',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'resourcequotas',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]);

/** Not negative; whole for what is counted. Source: core/validation.ValidateResourceQuantityValue. */
export function validateQuantityValue(path: string, name: string, quantity: Quantity): Errors {
  if (quantity.sign < 0) return [invalid(path, quantity.toString(), notNegativeMessage)];
  const isCounted = countedResources.has(name) || isExtendedResource(name);
  if (isCounted && quantity.milliValue() % 1000 !== 0) {
    return [invalid(path, quantity.toString(), 'must be an integer')];
  }
  return [];
}

export const isPodLevelResource = (name: string): boolean =>
  name === 'cpu' || name === 'memory' || isHugePages(name);

/** Source: core/validation.validatePodResourceName. */
export function validatePodLevelResourceName(path: string, name: string): Errors {
  const errors = validateResourceName(path, name);
  if (errors.length > 0 || isPodLevelResource(name)) return errors;
  return [notSupported(path, name, ['cpu', 'hugepages-', 'memory'])];
}

/** A whole number of pages of the size that the name has. Source: validateResourceQuantityHugePageValue. */
function validateHugePages(path: string, name: string, quantity: Quantity): Errors {
  if (!isHugePages(name)) return [];
  const size = Quantity.tryParse(name.slice('hugepages-'.length))?.value() ?? 0;
  if (size > 0 && quantity.value() % size === 0) return [];
  const text = quantity.toString();
  return [invalid(path, text, `${text} is not positive integer multiple of ${name}`)];
}

/** Source: core/validation.ValidateContainerResourceRequirements. */
export function validateResources(
  resources: ResourceRequirements | undefined,
  path: string,
  checkName = validateContainerResourceName,
): Errors {
  if (!resources) return [];
  const limits = Object.entries(resources.limits ?? {});
  const requests = Object.entries(resources.requests ?? {});
  const errors: Errors = [];
  for (const [name, text] of limits) {
    const at = mapKey(child(path, 'limits'), name);
    const quantity = Quantity.parse(text);
    errors.push(
      ...checkName(at, name),
      ...validateQuantityValue(at, name, quantity),
      ...validateHugePages(at, name, quantity),
    );
  }
  for (const [name, text] of requests) {
    const at = mapKey(child(path, 'requests'), name);
    const quantity = Quantity.parse(text);
    errors.push(
      ...checkName(at, name),
      ...validateQuantityValue(at, name, quantity),
      ...compareWithLimit(name, quantity, resources, path),
      ...validateHugePages(at, name, quantity),
    );
  }
  const names = [...limits, ...requests].map(([name]) => name);
  if (names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory')) {
    errors.push(forbidden(path, 'HugePages require cpu or memory'));
  }
  return errors;
}

function compareWithLimit(
  name: string,
  request: Quantity,
  resources: ResourceRequirements,
  path: string,
): Errors {
  const limits = resources.limits ?? {};
  const text = Object.hasOwn(limits, name) ? limits[name] : undefined;
  if (text === undefined) {
    return isOvercommitAllowed(name)
      ? []
      : [required(child(path, 'limits'), 'Limit must be set for non overcommitable resources')];
  }
  const limit = Quantity.parse(text);
  const at = child(path, 'requests');
  if (!isOvercommitAllowed(name) && !request.equals(limit)) {
    return [invalid(at, request.toString(), `must be equal to ${name} limit of ${limit.toString()}`)];
  }
  return request.compare(limit) > 0
    ? [invalid(at, request.toString(), `must be less than or equal to ${name} limit of ${limit.toString()}`)]
    : [];
}
