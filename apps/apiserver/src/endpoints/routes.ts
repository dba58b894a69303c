import { StatusError } from '@tinkernetes/apimachinery';
import type { RequestInfo } from '../contracts';
import type { ServedResource } from '../registry/generic/served-resource';

export const unknownResource = (): StatusError =>
  new StatusError('NotFound', 'the server could not find the requested resource', { details: {} });

/** What upstream's router answers for a path that has no such method. */
export const unsupportedMethod = (): StatusError =>
  new StatusError('MethodNotAllowed', 'the server does not allow this method on the requested resource', {
    details: {},
  });

/** Methods of a path, with the verbs that the resource must have for each. */
type Route = Readonly<Record<string, string>>;

const everywhere: Route = { GET: 'list' };
const collection: Route = { GET: 'list', POST: 'create', DELETE: 'deletecollection' };
const item: Route = { GET: 'get', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

/**
 * Refuses what upstream has no route for: first by the path, then by the method. A collection of all namespaces can only
 * be read, and the deprecated watch paths too. Source: k8s.io/apiserver/pkg/endpoints/installer.go.
 */
export function checkRoute(resource: ServedResource, info: RequestInfo, method: string): void {
  const { namespaced } = resource.descriptor;
  const isItem = info.parts.length > 1;
  const isAnywhere = namespaced && info.namespace === '';
  if (isItem ? isAnywhere : isAnywhere && !resource.verbs.has('list')) throw unknownResource();
  if (isItem && !Object.values(item).some((verb) => resource.verbs.has(verb))) throw unknownResource();
  if (info.watchPath) {
    if (!resource.verbs.has('watch')) throw unknownResource();
    if (method !== 'GET') throw unsupportedMethod();
    return;
  }
  const verb = (isItem ? item : isAnywhere ? everywhere : collection)[method];
  if (verb === undefined || !resource.verbs.has(verb)) throw unsupportedMethod();
}

/** Methods of the verbs that discovery names for a subresource. */
const methodsOfVerb: Readonly<Record<string, string>> = {
  create: 'POST',
  get: 'GET',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
};

/** Which methods an object's subresource has; a proxy passes HEAD and OPTIONS on as well. */
export function checkSubresourceMethod(
  { name, verbs }: { name: string; verbs: readonly string[] },
  method: string,
): void {
  if (name === 'proxy' && (method === 'HEAD' || method === 'OPTIONS')) return;
  if (!verbs.some((verb) => methodsOfVerb[verb] === method)) throw unsupportedMethod();
}
