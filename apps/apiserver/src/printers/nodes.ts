import type { Namespace, Node } from '@tinkernetes/api';
import { age, orNone } from './cells';

const rolePrefix = 'node-role.kubernetes.io/';

/** Name, Status, Roles, Age, Version, Internal-IP, External-IP, OS-Image, Kernel-Version, Container-Runtime. */
export function nodeCells(node: Node, now: number): unknown[] {
  const { status, metadata } = node;
  const info = status?.nodeInfo;
  const address = (type: string) => status?.addresses?.find((a) => a.type === type)?.address || '<none>';
  return [
    metadata.name,
    statusOf(node),
    orNone(rolesOf(node)),
    age(node, now),
    info?.kubeletVersion ?? '',
    address('InternalIP'),
    address('ExternalIP'),
    info?.osImage || '<unknown>',
    kernelOf(info),
    info?.containerRuntimeVersion || '<unknown>',
  ];
}

function kernelOf(info: NonNullable<Node['status']>['nodeInfo']): string {
  if (!info?.kernelVersion) return '<unknown>';
  return info.architecture ? `${info.kernelVersion} (${info.architecture})` : info.kernelVersion;
}

function statusOf(node: Node): string {
  const ready = node.status?.conditions?.find((condition) => condition.type === 'Ready');
  const state = ready ? (ready.status === 'True' ? 'Ready' : 'NotReady') : 'Unknown';
  return node.spec?.unschedulable ? `${state},SchedulingDisabled` : state;
}

function rolesOf(node: Node): string {
  const roles = Object.entries(node.metadata.labels ?? {}).flatMap(([key, value]) => {
    if (key.startsWith(rolePrefix))
      return key.length > rolePrefix.length ? [key.slice(rolePrefix.length)] : [];
    return key === 'kubernetes.io/role' && value ? [value] : [];
  });
  return [...new Set(roles)].sort().join(',');
}

/** Name, Status, Age. */
export const namespaceCells = (namespace: Namespace, now: number): unknown[] => [
  namespace.metadata.name,
  namespace.status?.phase ?? '',
  age(namespace, now),
];
