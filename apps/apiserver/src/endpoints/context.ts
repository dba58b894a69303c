import type { Clock, RunContext } from '@tinkernetes/component-base';
import type { Storage } from '@tinkernetes/storage';
import type { StorageFeed } from '../cacher/storage-feed';
import type { AdmissionPlugin, ApiRequest, Authorizer, SubresourceHandlers } from '../contracts';
import type { ApiServerOptions } from '../options';
import type { GenericStore } from '../registry/generic/generic-store';
import type { RequestMetrics } from '../request-metrics/request-metrics';
import type { ResourceTable } from '../registry/generic/resource-table';
import type { ServedResource } from '../registry/generic/served-resource';

/** What endpoints work with. */
export interface EndpointContext {
  readonly options: ApiServerOptions;
  readonly context: RunContext;
  readonly clock: Clock;
  readonly storage: Storage;
  readonly feed: StorageFeed;
  readonly table: ResourceTable;
  readonly authorizer: Authorizer;
  readonly admission: readonly AdmissionPlugin[];
  readonly requestMetrics: RequestMetrics;
  readonly subresources: () => SubresourceHandlers;
}

export interface ResourceRequest extends ApiRequest {
  readonly resource: ServedResource;
  /** As in the store: '' for cluster-scoped resources (a Namespace's request has its name there). */
  readonly namespace: string;
}

/** One verb on one resource. */
export type Endpoint = (context: EndpointContext, request: ResourceRequest) => Promise<void>;

/** The store of the request's resource; the dispatcher lets only verbs through that have one. */
export function storeOf(request: ResourceRequest): GenericStore {
  const { store } = request.resource;
  if (!store) throw new Error(`${request.info.resource} has no store`);
  return store;
}
