import { apiVersionOf, type KubeObject } from '@tinkernetes/api';
import { forbiddenError, type StatusError } from '@tinkernetes/apimachinery';
import type { AdmissionAttributes, AdmissionOperation } from '../contracts';
import type { WriteContext } from '../registry/generic/write-context';
import { objectInVersion } from './presenter';
import { runMutating, runValidating } from './admission-chain';
import type { EndpointContext, ResourceRequest } from './context';
import type { WriteQuery } from './write-options';

export interface WriteContextOptions {
  operation: AdmissionOperation;
  query: Pick<WriteQuery, 'dryRun' | 'fieldManager'>;
  options?: Readonly<Record<string, unknown>>;
  /** Kind that admission sees, where it is not the resource's own (Scale, Eviction …). */
  kind?: string;
  isApply?: boolean;
  /** Owners named twice are seen only after mutating admission, as upstream's patches do. */
  dedupsLate?: boolean;
}

/** For resources with several versions: what is stored as the request's version shows it. */
function inVersionOf({ resource }: ResourceRequest): ((object: KubeObject) => KubeObject) | undefined {
  if (!resource.toStorage) return undefined;
  return (object) => objectInVersion(resource, object);
}

/** Ties a request to the store's write: who, dry run, admission. */
export function writeContext(
  context: EndpointContext,
  request: ResourceRequest,
  { operation, query, options = {}, kind, isApply = false, dedupsLate = isApply }: WriteContextOptions,
): WriteContext {
  const { descriptor } = request.resource;
  const attributes = (
    op: AdmissionOperation,
    object: KubeObject | undefined,
    oldObject: KubeObject | undefined,
  ): AdmissionAttributes => ({
    operation: op,
    group: descriptor.group,
    version: descriptor.version,
    resource: descriptor.resource,
    subresource: request.info.subresource,
    kind: kind ?? descriptor.kind,
    namespace: request.info.namespace,
    name: request.info.name || (object?.metadata.name ?? ''),
    object,
    oldObject,
    options,
    user: request.user,
    dryRun: query.dryRun,
    warn: (message) => request.warn(message),
  });
  const operationFor = (old: KubeObject | undefined): AdmissionOperation =>
    operation === 'UPDATE' && !old ? 'CREATE' : operation;
  return {
    user: request.user,
    namespace: request.namespace,
    dryRun: query.dryRun,
    fieldManager: query.fieldManager,
    trace: request.trace,
    apiVersion: apiVersionOf(descriptor),
    subresource: request.info.subresource,
    fields: { typing: request.resource.typing(), isApply, inVersion: inVersionOf(request) },
    warn: (message) => request.warn(message),
    dedupsLate,
    measure: request.steps && ((id, work) => request.steps?.measure(id, work) ?? work()),
    mutate: (object, old) => {
      if (!old && request.resource.isTerminating) throw createRefused(request, object.metadata.name);
      return runMutating(context.admission, attributes(operationFor(old), object, old));
    },
    admit: (object, old) => runValidating(context.admission, attributes(operationFor(old), object, old)),
  };
}

/** Source: apiextensions-apiserver's forbidCreateAdmission. */
const createRefused = ({ info }: ResourceRequest, name: string): StatusError =>
  forbiddenError(
    { group: info.apiGroup, resource: info.resource },
    name,
    'create not allowed while custom resource definition is terminating',
  );
