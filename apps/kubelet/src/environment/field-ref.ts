import type { Container, Node, Pod, Quantity, ResourceFieldSelector } from '@tinkernetes/api';
import { allContainers } from '../pods/pod-facts';
import { amountOf, effectiveLimit } from '../runtime/resources';

export interface PodAddresses {
  podIPs: readonly string[];
  hostIPs: readonly string[];
}

/** A downward-API path's value. Source: https://kubernetes.io/docs/concepts/workloads/pods/downward-api/ */
export function fieldValue(pod: Pod, path: string, { podIPs, hostIPs }: PodAddresses): string {
  const { metadata, spec } = pod;
  const subscript = /^metadata\.(annotations|labels)\['(.+)'\]$/.exec(path);
  if (subscript) return metadata[subscript[1] as 'annotations' | 'labels']?.[subscript[2] ?? ''] ?? '';
  switch (path) {
    case 'metadata.name':
      return metadata.name;
    case 'metadata.namespace':
      return metadata.namespace ?? '';
    case 'metadata.uid':
      return metadata.uid ?? '';
    case 'metadata.labels':
      return formatMap(metadata.labels);
    case 'metadata.annotations':
      return formatMap(metadata.annotations);
    case 'spec.nodeName':
      return spec.nodeName ?? '';
    case 'spec.serviceAccountName':
      return spec.serviceAccountName ?? '';
    case 'status.podIP':
      return podIPs[0] ?? '';
    case 'status.podIPs':
      return podIPs.join(',');
    case 'status.hostIP':
      return hostIPs[0] ?? '';
    case 'status.hostIPs':
      return hostIPs.join(',');
    default:
      throw new Error(`unsupported fieldPath: ${path}`);
  }
}

/** `key="escaped value"` lines in key order (pkg/fieldpath FormatMap). */
function formatMap(map: Record<string, string> = {}): string {
  return Object.keys(map)
    .sort()
    .map((key) => `${key}=${JSON.stringify(map[key])}`)
    .join('\n');
}

/** A container's request or limit divided by `divisor`, rounded up. */
export function resourceValue(
  pod: Pod,
  own: Container,
  { resource, containerName, divisor }: ResourceFieldSelector,
  node: Node | undefined,
): string {
  const container = containerName
    ? allContainers(pod).find((c) => c.container.name === containerName)?.container
    : own;
  if (!container) throw new Error(`container ${containerName} not found`);
  const [kind, ...rest] = resource.split('.');
  const name = rest.join('.');
  const allocatable = node?.status?.allocatable;
  const quantity: Quantity =
    kind === 'limits'
      ? effectiveLimit(container, name, allocatable)
      : (container.resources?.requests?.[name] ?? container.resources?.limits?.[name] ?? '0');
  const unit = amountOf(divisor) || 1;
  return String(Math.ceil(Math.round((amountOf(quantity) / unit) * 1e6) / 1e6));
}
