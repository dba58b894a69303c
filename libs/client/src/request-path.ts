import { apiPathOf, type ResourceDescriptor } from '@tinkernetes/api';
import type { ListOptions, WatchOptions, WriteOptions } from './types';

export interface Target {
  namespace?: string;
  name?: string;
  subresource?: string;
}

/** `/apis/apps/v1/namespaces/default/deployments/web/status`. See the API concepts page, "Resource URIs". */
export function resourcePath(descriptor: ResourceDescriptor<unknown>, target: Target): string {
  const { namespace, name, subresource } = target;
  const scope = descriptor.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  const object = name === undefined ? '' : `/${encodeURIComponent(name)}`;
  return `${apiPathOf(descriptor)}${scope}/${descriptor.resource}${object}${subresource ? `/${subresource}` : ''}`;
}

type QueryValue = string | number | boolean | undefined;

/** `?a=1&b=2`, or '' when nothing is set. */
function queryString(values: Record<string, QueryValue>): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) {
    if (value !== undefined && value !== '' && value !== false) query.set(key, String(value));
  }
  const text = query.toString();
  return text ? `?${text}` : '';
}

export function listQuery(options: ListOptions): string {
  return queryString({
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    resourceVersion: options.resourceVersion,
    resourceVersionMatch: options.resourceVersionMatch,
    limit: options.limit,
    continue: options.continue,
  });
}

export function watchQuery(options: WatchOptions): string {
  return queryString({
    watch: true,
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    resourceVersion: options.resourceVersion,
    resourceVersionMatch: options.sendInitialEvents ? 'NotOlderThan' : undefined,
    sendInitialEvents: options.sendInitialEvents,
    allowWatchBookmarks: options.allowWatchBookmarks,
    timeoutSeconds: options.timeoutSeconds,
  });
}

export function writeQuery(options: WriteOptions & { force?: boolean }): string {
  return queryString({
    fieldManager: options.fieldManager,
    dryRun: options.dryRun ? 'All' : undefined,
    force: options.force,
  });
}
