import type { ObjectFieldSelector, ResourceFieldSelector } from '@tinkernetes/api';
import { child, invalid, isQualifiedName, notSupported, required } from '@tinkernetes/apimachinery';
import { check } from '../rules';
import type { Errors } from '../rules';

const convertible = new Set([
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.serviceAccountName',
  'spec.schedulerName',
  'status.phase',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]);
export const envFieldPaths = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
export const volumeFieldPaths = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];
const resourcePaths = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];
const divisors: Readonly<Record<string, readonly string[]>> = {
  cpu: ['0', '1m', '1'],
  memory: ['0', '1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'],
};

/** Resources as messages call them. */
const spokenNames = [
  ['ephemeral-storage', 'local ephemeral storage'],
  ['hugepages-', 'hugepages'],
] as const;

/** A field of the Pod (downward API). Source: core/validation.validateObjectFieldSelector. */
export function validateFieldRef(
  ref: ObjectFieldSelector,
  path: string,
  supported: readonly string[],
): Errors {
  if (!ref.apiVersion) return [required(child(path, 'apiVersion'))];
  if (!ref.fieldPath) return [required(child(path, 'fieldPath'))];
  const subscripted = /^(.*)\['(.*)'\]$/s.exec(ref.fieldPath);
  const [base, subscript] = subscripted ? [subscripted[1] ?? '', subscripted[2]] : [ref.fieldPath, undefined];
  const fieldPath = child(path, 'fieldPath');
  const problem = conversionProblem(ref, base, subscript);
  if (problem) return [invalid(fieldPath, ref.fieldPath, `error converting fieldPath: ${problem}`)];
  if (subscript !== undefined) {
    return check(
      path,
      base === 'metadata.annotations' ? subscript.toLowerCase() : subscript,
      isQualifiedName,
    );
  }
  return supported.includes(base) ? [] : [notSupported(fieldPath, base, supported)];
}

function conversionProblem(
  ref: ObjectFieldSelector,
  base: string,
  subscript: string | undefined,
): string | undefined {
  if (ref.apiVersion !== 'v1') return `unsupported pod version: ${ref.apiVersion}`;
  const isSubscriptable = base === 'metadata.annotations' || base === 'metadata.labels';
  const isKnown = subscript === undefined ? convertible.has(base) || base === 'spec.host' : isSubscriptable;
  return isKnown ? undefined : `field label not supported: ${ref.fieldPath}`;
}

/** A container's resource (downward API). In volumes the container must be named. */
export function validateResourceFieldRef(
  ref: ResourceFieldSelector,
  path: string,
  isVolume: boolean,
): Errors {
  if (isVolume && !ref.containerName) return [required(child(path, 'containerName'))];
  if (!ref.resource) return [required(child(path, 'resource'))];
  const isHugePages = /^(limits|requests)\.hugepages-/.test(ref.resource);
  if (!resourcePaths.includes(ref.resource) && !isHugePages) {
    return [notSupported(child(path, 'resource'), ref.resource, resourcePaths)];
  }
  const kind = ref.resource.endsWith('.cpu') ? 'cpu' : 'memory';
  const divisor = String(ref.divisor ?? '0');
  if (divisors[kind]?.includes(divisor)) return [];
  const given = ref.resource.slice(ref.resource.indexOf('.') + 1);
  const name = spokenNames.find(([start]) => given.startsWith(start))?.[1] ?? given;
  const detail =
    kind === 'cpu'
      ? "only divisor's values 1m and 1 are supported with the cpu resource"
      : `only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the ${name} resource`;
  // Upstream shows the resource, not the divisor.
  return [invalid(child(path, 'divisor'), ref.resource, detail)];
}
