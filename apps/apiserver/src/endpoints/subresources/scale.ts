import { loadSchemas, type KubeObject, type Scale } from '@tinkernetes/api';
import {
  checkConfiguration,
  formatLabelSelector,
  invalid,
  invalidError,
  type StatusError,
  notNegativeMessage,
} from '@tinkernetes/apimachinery';
import { builtInCodec } from '../../codec/object-codec';
import type { CacheEntry } from '../../cacher/cache-entry';
import type { ServedResource } from '../../registry/generic/served-resource';
import { sendValue } from '../answer';
import type { Endpoint, EndpointContext, ResourceRequest } from '../context';
import { storeOf } from '../context';
import { currentEntry } from '../get';
import { objectInVersion, objectOf, toStorage } from '../presenter';
import { applyTo } from '../apply';
import { checkNamespace } from '../create';
import { readPatch } from '../patch-document';
import { patchType } from '../patch-type';
import { checkName } from '../update';
import { readTypedObject } from '../read-object';
import { writeContext } from '../write-context';
import { patchQuery, writeQuery } from '../write-options';

/** Where a kind keeps what its Scale shows. */
export interface ScaleMapping {
  replicas(object: KubeObject): number;
  statusReplicas(object: KubeObject): number;
  selector(object: KubeObject): string;
  withReplicas(object: KubeObject, replicas: number): KubeObject;
  /** The answer to a negative number, where it is not the Scale's own. */
  refuseNegative?(object: KubeObject, replicas: number): StatusError;
}

interface Workload extends KubeObject {
  spec?: { replicas?: number; selector?: object };
  status?: { replicas?: number };
}

/** Deployments, ReplicaSets, StatefulSets and ReplicationControllers. */
const workloads: ScaleMapping = {
  replicas: (object: Workload) => object.spec?.replicas ?? 0,
  statusReplicas: (object: Workload) => object.status?.replicas ?? 0,
  selector: (object: Workload) => {
    const selector = object.spec?.selector;
    if (!selector) return '';
    return object.kind === 'ReplicationController'
      ? Object.entries(selector as Record<string, string>)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([key, value]) => `${key}=${value}`)
          .join(',')
      : formatLabelSelector(selector);
  },
  withReplicas: (object: Workload, replicas) => ({ ...object, spec: { ...object.spec, replicas } }),
};

const mappingOf = (resource: ServedResource): ScaleMapping => resource.scale ?? workloads;

const descriptor = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
const scaleKind = { apiVersion: 'autoscaling/v1', kind: 'Scale' };

/** The autoscaling/v1 Scale of an object. */
export function scaleOf(object: KubeObject, mapping: ScaleMapping): Scale {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = mapping.replicas(object);
  const selector = mapping.selector(object);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: mapping.statusReplicas(object), ...(selector ? { selector } : undefined) },
  };
}

/** GET, PUT and PATCH of `scale`. */
export const scale: Endpoint = async (context, request) => {
  const mapping = mappingOf(request.resource);
  if (request.info.verb === 'get') {
    const entry = await currentEntry(context, request);
    await sendScale(request, entry, mapping);
    return;
  }
  await sendScale(request, await written(context, request), mapping);
};

function written(context: EndpointContext, request: ResourceRequest): Promise<CacheEntry> {
  if (request.info.verb === 'update') return put(context, request);
  return patchType(request) === 'apply' ? applied(context, request) : patched(context, request);
}

async function sendScale(request: ResourceRequest, entry: CacheEntry, mapping: ScaleMapping): Promise<void> {
  await request.resource.prepare?.([entry]);
  sendValue(request, 200, scaleOf(objectOf(request.resource, entry), mapping));
}

async function put(context: EndpointContext, request: ResourceRequest): Promise<CacheEntry> {
  const query = writeQuery(request, 'UpdateOptions');
  const given = (await readTypedObject(context, request, {
    codec: builtInCodec(descriptor),
    target: 'autoscaling.Scale',
    fieldValidation: query.fieldValidation,
  })) as Scale & KubeObject;
  checkNamespace(given.metadata.namespace, request.namespace);
  checkName(given.metadata.name, request.info.name);
  return await write(context, request, query, () => given);
}

async function patched(context: EndpointContext, request: ResourceRequest): Promise<CacheEntry> {
  const query = patchQuery(request, { apply: false });
  const change = await readPatch(context, request, {
    codec: builtInCodec(descriptor),
    internalType: 'autoscaling.Scale',
    custom: false,
    fieldValidation: query.fieldValidation,
  });
  return await write(context, request, query, (current) => {
    const wanted = change.apply(current) as Scale & KubeObject;
    checkName(wanted.metadata.name, request.info.name);
    checkNamespace(wanted.metadata.namespace, request.namespace);
    return wanted;
  });
}

/** What a Scale asks for is applied to the object itself: it is that object's field which is owned. */
async function applied(context: EndpointContext, request: ResourceRequest): Promise<CacheEntry> {
  const { codec } = request.resource;
  const mapping = mappingOf(request.resource);
  const { entry } = await applyTo<Scale & KubeObject>(context, request, {
    ...scaleKind,
    shownVersion: scaleKind.apiVersion,
    configOf(config) {
      checkConfiguration(config, {
        schemas: loadSchemas(),
        schemaName: 'io.k8s.api.autoscaling.v1.Scale',
        apiVersion: scaleKind.apiVersion,
      });
      const { uid, resourceVersion } = config.metadata ?? {};
      const name = config.metadata?.name ?? request.info.name;
      const own = {
        apiVersion: codec.apiVersion,
        kind: codec.kind,
        metadata: { name, ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) },
      };
      const replicas = config.spec?.replicas;
      return replicas === undefined ? own : mapping.withReplicas(own, replicas);
    },
    settle(object) {
      const replicas = mapping.replicas(object);
      checkReplicas(replicas, object, mapping);
      return mapping.withReplicas(object, replicas);
    },
  });
  return entry;
}

async function write(
  context: EndpointContext,
  request: ResourceRequest,
  query: ReturnType<typeof writeQuery>,
  change: (current: Scale) => Scale & KubeObject,
): Promise<CacheEntry> {
  const { resource, info } = request;
  const mapping = mappingOf(resource);
  const { entry } = await storeOf(request).updateObject(
    {
      name: info.name,
      namespace: request.namespace,
      replaces: info.verb === 'update',
      change: (current) => {
        const live = objectInVersion(resource, current);
        const wanted = change(scaleOf(live, mapping));
        const replicas = wanted.spec?.replicas ?? 0;
        checkReplicas(replicas, live, mapping);
        const next = mapping.withReplicas(live, replicas);
        const { resourceVersion = live.metadata.resourceVersion, uid } = wanted.metadata;
        return toStorage(resource, {
          ...next,
          metadata: { ...next.metadata, resourceVersion, uid: uid ?? next.metadata.uid },
        });
      },
    },
    writeContext(context, request, { operation: 'UPDATE', query }),
  );
  return entry;
}

function checkReplicas(replicas: number, live: KubeObject, mapping: ScaleMapping): void {
  if (replicas >= 0) return;
  if (mapping.refuseNegative) throw mapping.refuseNegative(live, replicas);
  const { name } = live.metadata;
  throw invalidError(descriptor, name, [invalid('spec.replicas', replicas, notNegativeMessage)]);
}
