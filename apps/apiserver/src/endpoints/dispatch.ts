import { StatusError } from '@tinkernetes/apimachinery';
import type { ApiRequest, RequestInfo } from '../contracts';
import type { ServedResource } from '../registry/generic/served-resource';
import { PlainNotFound } from '../server/respond';
import type { Endpoint, EndpointContext, ResourceRequest } from './context';
import { create } from './create';
import { deleteOne } from './delete';
import { deleteCollection } from './delete-collection';
import { get } from './get';
import { list } from './list';
import { patch } from './patch';
import { binding } from './subresources/binding';
import { eviction } from './subresources/eviction';
import { scale } from './subresources/scale';
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

export const unknownResource = (): StatusError =>
  new StatusError('NotFound', 'the server could not find the requested resource', { details: {} });

/** Finds what a resource request is for and runs its verb. */
export async function dispatch(context: EndpointContext, request: ApiRequest): Promise<void> {
  const { info } = request;
  const resource = find(context, info);
  if (resource.deprecationWarning) request.warn(resource.deprecationWarning);
  if (info.subresource) {
    await dispatchSubresource(context, request, resource);
    return;
  }
  if (resource.descriptor.group === '' && info.resource === 'bindings') {
    await binding(context, withResource(request, resource));
    return;
  }
  if (resource.descriptor.group === '' && info.resource === 'componentstatuses') {
    if (!resource.verbs.has(info.verb)) throw unsupportedVerb();
    const { componentStatuses } = await import('./component-statuses');
    await componentStatuses(context, withResource(request, resource));
    return;
  }
  const virtual = resource.store ? undefined : context.subresources().get(keyOf(resource, ''));
  if (virtual && resource.verbs.has(info.verb)) {
    await virtual(request);
    return;
  }
  if (isForOther(info)) throw unsupportedVerb();
  const endpoint = endpoints[info.verb];
  if (!endpoint || !resource.store || !resource.verbs.has(info.verb)) throw unsupportedVerb();
  await endpoint(context, withResource(request, resource));
}

/** Collections are neither replaced nor patched, and nothing is created below an object. */
const isForOther = ({ verb, parts }: RequestInfo): boolean =>
  parts.length > 1 ? verb === 'create' : verb === 'update' || verb === 'patch';

async function dispatchSubresource(
  context: EndpointContext,
  request: ApiRequest,
  resource: ServedResource,
): Promise<void> {
  const { subresource, verb } = request.info;
  const known = resource.subresources.get(subresource);
  if (!known || (request.info.parts.length > 3 && subresource !== 'proxy')) throw unknownResource();
  const handler = context.subresources().get(keyOf(resource, subresource));
  if (handler) {
    await handler(request);
    return;
  }
  const typed = withResource(request, resource);
  if (!known.verbs.includes(verb)) throw unsupportedVerb();
  const special = subresourceEndpoints[subresource];
  const endpoint = special ?? (updateKindOf(typed) ? endpoints[verb] : undefined);
  if (!endpoint) throw unsupportedVerb();
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
  if ((info.apiPrefix === 'api') !== (apiGroup === '')) throw new PlainNotFound();
  const resource = table.lookup(apiGroup, apiVersion, info.resource);
  if (!resource) {
    if (!table.hasGroupVersion(apiGroup, apiVersion)) throw new PlainNotFound();
    throw unknownResource();
  }
  const { namespaced } = resource.descriptor;
  const ownNamespace = apiGroup === '' && info.resource === 'namespaces';
  const isNamed = parts.length > 1;
  if (namespaced ? isNamed && !namespace : namespace !== '' && !ownNamespace) throw unknownResource();
  const isWrittenInOne = info.verb === 'create' || info.verb === 'deletecollection';
  if (namespaced && !namespace && isWrittenInOne) throw unsupportedVerb();
  if (name && isNamed) checkPathName(name);
  return resource;
}

function checkPathName(name: string): void {
  const reason = name === '.' ? "may not be '.'" : name === '..' ? "may not be '..'" : undefined;
  if (reason)
    throw new StatusError('BadRequest', `Name parameter invalid: ${JSON.stringify(name)}: ${reason}`);
}

/** What upstream's router answers for a path that has no such method. */
const unsupportedVerb = (): StatusError =>
  new StatusError('MethodNotAllowed', 'the server does not allow this method on the requested resource', {
    details: {},
  });
