import type { IncomingHttpHeaders } from 'node:http';
import {
  apiVersionOf,
  type KubeObject,
  type ResourceDescriptor,
  type Scale,
  type Status,
} from '@tinkernetes/api';
import type { TraceParent } from '@tinkernetes/component-base';
import { listQuery, resourcePath, watchQuery, writeQuery, type Target } from './request-path';
import type { TraceContexts } from './trace-contexts';
import { readText, type Transport } from './transport';
import type { CallOptions, ObjectList, PatchType, ResourceClient, ScopeOptions } from './types';
import { watchEvents } from './watch';

const patchContentType: Record<PatchType, string> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

const metadataOf = (kind: 'PartialObjectMetadata' | 'PartialObjectMetadataList') => ({
  accept: `application/json;as=${kind};g=meta.k8s.io;v=v1`,
});

export interface Call extends CallOptions {
  method: string;
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
}

export interface Answer<R> {
  value: R;
  headers: IncomingHttpHeaders;
}

/** Sends JSON and reads JSON. */
export async function callJson<R>(transport: Transport, call: Call): Promise<Answer<R>> {
  const response = await transport.open(toRequest(call));
  const text = await readText(response);
  return { value: (text === '' ? undefined : JSON.parse(text)) as R, headers: response.headers };
}

export function toRequest({ method, path, body, headers, signal, trace }: Call) {
  return {
    method,
    path,
    signal,
    body: body === undefined ? undefined : JSON.stringify(body),
    headers: { ...headers, ...(trace ? { traceparent: trace } : {}) },
  };
}

export function createResourceClient<T extends KubeObject>(
  descriptor: ResourceDescriptor<T>,
  transport: Transport,
  traces: TraceContexts,
): ResourceClient<T> {
  const typeMeta = { apiVersion: apiVersionOf(descriptor), kind: descriptor.kind };

  const objectCall = async <R extends KubeObject>(call: Call): Promise<R> => {
    const { value, headers } = await callJson<R>(transport, call);
    traces.set(value, headers['traceparent'] as TraceParent | undefined);
    return value;
  };
  const pathOf = (target: Target, query = '') => resourcePath(descriptor, target) + query;
  const write = (method: 'POST' | 'PUT', object: Partial<KubeObject>, target: Target & ScopeOptions) =>
    objectCall<T>({
      ...target,
      method,
      path: pathOf(target, writeQuery(target)),
      body: { ...typeMeta, ...object },
    });

  return {
    descriptor,
    get: (name, options = {}) =>
      objectCall<T>({ ...options, method: 'GET', path: pathOf({ ...options, name }) }),

    async list(options = {}) {
      const path = pathOf({ namespace: options.namespace }, listQuery(options));
      const { value } = await callJson<ObjectList<T> & { traces?: Record<string, TraceParent> }>(transport, {
        ...options,
        method: 'GET',
        path,
        headers: options.metadataOnly ? metadataOf('PartialObjectMetadataList') : undefined,
      });
      const items = value.items ?? [];
      for (const item of items) {
        // Upstream's lists leave the type out of their items; with it an object is the same wherever it came from.
        item.apiVersion ??= typeMeta.apiVersion;
        item.kind ??= typeMeta.kind;
        traces.set(item, value.traces?.[item.metadata.uid ?? '']);
      }
      return { metadata: value.metadata ?? {}, items };
    },

    async *watch(options = {}) {
      const { signal } = options;
      const path = pathOf({ namespace: options.namespace }, watchQuery(options));
      const headers = options.metadataOnly ? metadataOf('PartialObjectMetadata') : undefined;
      if (signal?.aborted) return;
      const response = await transport
        .open({ ...toRequest({ ...options, method: 'GET', path, headers }), isStream: true })
        .catch((error: unknown) => {
          if (signal?.aborted) return undefined;
          throw error;
        });
      if (response) yield* watchEvents<T>(response, traces, signal);
    },

    create: (object, options = {}) =>
      write('POST', object as Partial<KubeObject>, {
        ...options,
        namespace: options.namespace ?? object.metadata.namespace,
      }),
    update: (object, options = {}) => write('PUT', object, { ...options, ...identityOf(object, options) }),
    updateStatus: (object, options = {}) =>
      write('PUT', object, { ...options, ...identityOf(object, options), subresource: 'status' }),

    patch: (name, patch, options) =>
      objectCall<T>({
        ...options,
        method: 'PATCH',
        path: pathOf({ ...options, name }, writeQuery(options)),
        headers: { 'content-type': patchContentType[options.type] },
        body: patch,
      }),

    async delete(name, options = {}) {
      const path = pathOf({ ...options, name });
      const { value } = await callJson<T | Status>(transport, {
        ...options,
        method: 'DELETE',
        path,
        body: deleteOptions(options),
      });
      return value;
    },
    async deleteCollection(options = {}) {
      const path = pathOf({ namespace: options.namespace }, listQuery(options));
      await callJson(transport, { ...options, method: 'DELETE', path, body: deleteOptions(options) });
    },

    getScale: (name, options = {}) =>
      objectCall<Scale & KubeObject>({
        ...options,
        method: 'GET',
        path: pathOf({ ...options, name, subresource: 'scale' }),
      }),
    updateScale: (name, scale, options = {}) =>
      objectCall<Scale & KubeObject>({
        ...options,
        method: 'PUT',
        path: pathOf({ ...options, name, subresource: 'scale' }, writeQuery(options)),
        body: scale,
      }),

    async subresource<R>(
      method: 'GET' | 'POST' | 'PUT',
      name: string,
      subresource: string,
      body?: object,
      options: Parameters<ResourceClient<T>['subresource']>[4] = {},
    ) {
      const path = pathOf({ ...options, name, subresource }, writeQuery(options));
      const { value } = await callJson<R>(transport, { ...options, method, path, body });
      return value;
    },
  };
}

function identityOf(object: KubeObject, options: ScopeOptions): { name: string; namespace?: string } {
  return { name: object.metadata.name, namespace: options.namespace ?? object.metadata.namespace };
}

function deleteOptions(options: {
  gracePeriodSeconds?: number;
  propagationPolicy?: string;
  preconditions?: object;
}) {
  const { gracePeriodSeconds, propagationPolicy, preconditions } = options;
  return { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds, propagationPolicy, preconditions };
}
