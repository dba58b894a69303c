import type { RequestInfo } from '../contracts';

const verbOfMethod: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** Subresources of a Namespace itself; anything else below it is a namespaced resource. */
const namespaceSubresources = new Set(['status', 'finalize']);

const isTrue = (value: string | null): boolean => value !== null && value !== 'false' && value !== '0';

const decodeSegment = (segment: string): string => {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (error instanceof URIError) return segment;
    throw error;
  }
};

/** What a request is about. Source: k8s.io/apiserver/pkg/endpoints/request.RequestInfoFactory. */
export function parseRequestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  const none = {
    isResourceRequest: false,
    path,
    verb: method.toLowerCase(),
    apiPrefix: '',
    apiGroup: '',
    apiVersion: '',
    namespace: '',
    resource: '',
    subresource: '',
    name: '',
    watchPath: false,
    parts: [],
  };
  let parts = splitPath(path);
  if (parts.length < 3) return none;
  const apiPrefix = parts[0] ?? '';
  if (apiPrefix !== 'api' && apiPrefix !== 'apis') return none;
  parts = parts.slice(1);
  let apiGroup = '';
  if (apiPrefix === 'apis') {
    if (parts.length < 3) return { ...none, apiPrefix };
    apiGroup = parts[0] ?? '';
    parts = parts.slice(1);
  }
  const apiVersion = parts[0] ?? '';
  parts = parts.slice(1);
  let verb = verbOfMethod[method] ?? '';
  const deprecatedWatch = parts[0] === 'watch' && parts.length > 1;
  if (deprecatedWatch) {
    verb = 'watch';
    parts = parts.slice(1);
  }
  let namespace = '';
  if (parts[0] === 'namespaces' && parts.length > 1) {
    namespace = parts[1] ?? '';
    if (parts.length > 2 && !namespaceSubresources.has(parts[2] ?? '')) parts = parts.slice(2);
  }
  const resource = parts[0] ?? '';
  let name = parts[1] ?? '';
  const subresource = parts[2] ?? '';
  if (!name && verb === 'get') {
    verb = isTrue(query.get('watch')) ? 'watch' : 'list';
    name = nameFromSelector(query) ?? '';
  } else if (!name && verb === 'delete') verb = 'deletecollection';
  else if (name && deprecatedWatch && !subresource) name = parts[1] ?? '';
  return {
    isResourceRequest: true,
    path,
    verb,
    apiPrefix,
    apiGroup,
    apiVersion,
    namespace,
    resource,
    subresource,
    name,
    watchPath: deprecatedWatch,
    parts,
  };
}

/** Non-empty segments, decoded; a trailing slash does not count. */
export function splitPath(path: string): string[] {
  const trimmed = path.replace(/^\/+|\/+$/g, '');
  return trimmed === '' ? [] : trimmed.split('/').map(decodeSegment);
}

/** A list of one object by name is authorized as such. */
function nameFromSelector(query: URLSearchParams): string | undefined {
  const selector = query.get('fieldSelector');
  const match = selector === null ? undefined : /(?:^|,)metadata\.name==?([^,!=\\]+)(?:,|$)/.exec(selector);
  return match?.[1];
}
