import { badRequest, StatusError } from '@tinkernetes/apimachinery';
import type { ApiRequest, RequestInfo } from '../contracts';
import type { ServedResource } from '../registry/generic/served-resource';
import { PlainNotFound } from '../server/respond';
import { checkNegotiable } from './answer';
import type { Endpoint, EndpointContext, ResourceRequest } from './context';
import { create } from './create';
import { deleteOne } from './delete';
import { deleteCollection } from './delete-collection';
import { get } from './get';
import { list } from './list';
import { patch } from './patch';
import { checkRoute, checkSubresourceMethod, unknownResource, unsupportedMethod } from './routes';
import { checkRouteMediaTypes } from './route-media-types';
import { binding } from './subresources/binding';
import { eviction } from './subresources/eviction';
import { scale } from './subresources/scale';
import { checkTimeout } from './request-timeout';
import { update } from './update';
import { updateKindOf } from './update-kind';
import { watch } from './watch';

const endpoints: Readonly<Record<string, Endpoint>> = {
  get,
  list,
  watch,
  create,
  update,
  patch,
  delete: deleteOne,
  deletecollection: deleteCollection,
};

/** Subresources with a kind of their own. */
const subresourceEndpoints: Readonly<Record<string, Endpoint>> = { scale, binding, eviction };

/** Finds what a resource request is for and runs its verb. */
export async function dispatch(context: EndpointContext, request: ApiRequest): Promise<void> {
  const { info } = request;
  checkTimeout(request.query);
  const resource = find(context, info);
  const method = request.raw.method ?? '';
  // Custom resources have no routes: a collection's path is one of an object without a name.
  if (resource.custom && info.parts.length === 1 && (method === 'PUT' || method === 'PATCH'))
    throw badRequest('name must be provided');
  if (!info.subresource) {
    checkRoute(resource, info, method);
    const isList = method === 'GET' && (info.parts.length === 1 || info.watchPath);
    if (!resource.custom) checkRouteMediaTypes(method, request.raw.headers, { isList });
    request.routed();
  }
  if (!info.subresource || resource.subresources.has(info.subresource))
    request.warn(resource.deprecationWarning ?? '');
  if (info.subresource) {
    await dispatchSubresource(context, request, resource);
    return;
  }
  if (resource.descriptor.group === '' && info.resource === 'bindings') {
    await binding(context, withResource(request, resource));
    return;
  }
  if (resource.descriptor.group === '' && info.resource === 'componentstatuses') {
    const { componentStatuses } = await import('./component-statuses');
    await componentStatuses(context, withResource(request, resource));
    return;
  }
  const virtual = resource.store ? undefined : context.subresources().get(keyOf(resource, ''));
  if (virtual) {
    await virtual(request);
    return;
  }
  const endpoint = endpoints[info.verb];
  if (!endpoint || !resource.store) throw unsupportedMethod();
  await endpoint(context, withResource(request, resource));
}

async function dispatchSubresource(
  context: EndpointContext,
  request: ApiRequest,
  resource: ServedResource,
): Promise<void> {
  const { subresource, verb } = request.info;
  const known = resource.subresources.get(subresource);
  const isTooLong = request.info.parts.length > 3 && subresource !== 'proxy';
  if (!known || isTooLong || request.info.watchPath) throw unknownResource();
  checkSubresourceMethod(known, request.raw.method ?? '');
  const handler = context.subresources().get(keyOf(resource, subresource));
  if (handler) {
    request.routed();
    await handler(request);
    return;
  }
  if (!resource.custom)
    checkRouteMediaTypes(request.raw.method ?? '', request.raw.headers, { isList: false });
  request.routed();
  const typed = withResource(request, resource);
  if (subresource === 'scale') checkNegotiable(typed);
  const special = subresourceEndpoints[subresource];
  const endpoint = special ?? (updateKindOf(typed) ? endpoints[verb] : undefined);
  if (!endpoint) throw unsupportedMethod();
  await endpoint(context, typed);
}

/** The request with what it is for. */
const withResource = (request: ApiRequest, resource: ServedResource): ResourceRequest =>
  Object.assign(request, {
    resource,
    namespace: resource.descriptor.namespaced ? request.info.namespace : '',
  });

const keyOf = ({ descriptor }: ServedResource, subresource: string): string =>
  `${descriptor.group}/${descriptor.resource}/${subresource}`;

function find({ table }: EndpointContext, info: RequestInfo): ServedResource {
  const { apiGroup, apiVersion, namespace, name, parts } = info;
  const isApi = (info.apiPrefix === 'api') === (apiGroup === '') && !info.path.startsWith('//');
  if (!isApi) throw new PlainNotFound();
  const resource = table.lookup(apiGroup, apiVersion, info.resource);
  if (!resource) {
    // Groups of the server's own answer for their other versions, too.
    const isKnown = table.hasGroupVersion(apiGroup, apiVersion) || table.hasBuiltInGroup(apiGroup);
    throw isKnown ? unknownResource() : new PlainNotFound();
  }
  const { namespaced } = resource.descriptor;
  const isNamed = parts.length > 1;
  // The namespace of a Namespace's own path is its name.
  const ownNamespace = apiGroup === '' && info.resource === 'namespaces' && isNamed;
  if (!namespaced && namespace !== '' && !ownNamespace) throw unknownResource();
  if (namespaced && isNamed && !namespace) throw unknownResource();
  if (name && isNamed) checkPathName(name);
  return resource;
}

function checkPathName(name: string): void {
  const reason = name === '.' ? "may not be '.'" : name === '..' ? "may not be '..'" : undefined;
  if (reason)
    throw new StatusError('BadRequest', `Name parameter invalid: ${JSON.stringify(name)}: ${reason}`);
}
