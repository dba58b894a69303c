import type { IncomingMessage } from 'node:http';
import type { RequestInfo } from '../contracts';

const connecting: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

const applies = (contentType = ''): boolean => contentType.startsWith('application/apply-patch+');

/** What a metric calls the verb: the method, but for lists, watches, applied patches and what connects to a node. */
export function reportedVerb(info: RequestInfo, { method = '', headers }: IncomingMessage): string {
  if (info.verb === 'list') return 'LIST';
  if (info.verb === 'watch') return 'WATCH';
  if (info.apiGroup === '' && connecting.has(info.subresource)) return 'CONNECT';
  if (method === 'HEAD') return 'GET';
  return method === 'PATCH' && applies(headers['content-type']) ? 'APPLY' : method;
}

/** Of the path that leads to it: a list that selects one name is still one of its namespace. */
export function reportedScope({ isResourceRequest, namespace, parts, verb }: RequestInfo): string {
  if (!isResourceRequest) return '';
  if (parts.length > 1 || verb === 'create') return 'resource';
  return namespace ? 'namespace' : 'cluster';
}

export function reportedDryRun(query: URLSearchParams): string {
  const values = query.getAll('dryRun');
  if (values.length === 0) return '';
  return values.every((value) => value === 'All') ? 'All' : 'invalid';
}

/** What a path that belongs to no resource is counted as: handlers that serve many paths are one. */
export function reportedPath(path: string): string {
  if (path.startsWith('/openapi/')) return path.startsWith('/openapi/v3/') ? 'openapi/v3/' : 'openapi/v3';
  return path;
}
