import type { KubeObject, PersistentVolumeClaim, Pod, Service } from '@tinkernetes/api';
import { podLimits, podRequests, type ResourceQuantities } from '../pods/pod-resources';
import { isPodTerminal } from '../pods/pod-status';
import { Quantity } from '../quantity';

const one = Quantity.ofValue(1);

/** What an object counts for in the quotas of its namespace. Source: k8s.io/kubernetes/pkg/quota/v1/evaluator/core. */
export function usageOf(group: string, resource: string, object: KubeObject): Map<string, Quantity> {
  const usage = new Map<string, Quantity>();
  usage.set(`count/${resource}${group ? `.${group}` : ''}`, one);
  if (group === '' && countedByName.has(resource)) usage.set(resource, one);
  const more = group === '' ? evaluators[resource]?.(object) : undefined;
  for (const [name, quantity] of more ?? []) usage.set(name, quantity);
  return usage;
}

/** Resources that an update may need more of; all others are counted when they are created. */
export const isUpdatable = (group: string, resource: string): boolean =>
  group === '' && (resource === 'services' || resource === 'persistentvolumeclaims');

const countedByName: ReadonlySet<string> = new Set([
  'configmaps',
  'persistentvolumeclaims',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'services',
]);

const evaluators: Readonly<Record<string, (object: KubeObject) => ResourceQuantities>> = {
  pods: (object) => podUsage(object as Pod),
  services: (object) => serviceUsage(object as Service),
  persistentvolumeclaims: (object) => claimUsage(object as PersistentVolumeClaim),
};

function podUsage(pod: Pod): Map<string, Quantity> {
  const usage = new Map<string, Quantity>();
  if (isPodTerminal(pod)) return usage;
  usage.set('pods', one);
  for (const [name, quantity] of podRequests(pod)) {
    usage.set(`requests.${name}`, quantity);
    if (isStandard(name)) usage.set(name, quantity);
  }
  for (const [name, quantity] of podLimits(pod)) if (isStandard(name)) usage.set(`limits.${name}`, quantity);
  return usage;
}

const isStandard = (name: string): boolean =>
  name === 'cpu' || name === 'memory' || name === 'ephemeral-storage' || name.startsWith('hugepages-');

function serviceUsage({ spec }: Service): Map<string, Quantity> {
  const ports = spec?.ports ?? [];
  const usage = new Map<string, Quantity>();
  const withNodePorts =
    spec?.type === 'NodePort' ||
    (spec?.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false);
  const given = ports.filter((port) => port.nodePort).length;
  usage.set(
    'services.nodeports',
    Quantity.ofValue(withNodePorts ? ports.length : spec?.type === 'LoadBalancer' ? given : 0),
  );
  usage.set('services.loadbalancers', Quantity.ofValue(spec?.type === 'LoadBalancer' ? 1 : 0));
  return usage;
}

function claimUsage(claim: PersistentVolumeClaim): Map<string, Quantity> {
  const usage = new Map<string, Quantity>();
  const className = claim.spec?.storageClassName;
  const prefix = className ? `${className}.storageclass.storage.k8s.io/` : undefined;
  if (prefix) usage.set(`${prefix}persistentvolumeclaims`, one);
  const storage = Quantity.tryParse(claim.spec?.resources?.requests?.storage);
  if (!storage) return usage;
  usage.set('requests.storage', storage);
  if (prefix) usage.set(`${prefix}requests.storage`, storage);
  return usage;
}
