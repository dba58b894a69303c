import type { KubeObject } from '@tinkernetes/api';
import { isObject, StatusError, validateAnnotations, validateLabels } from '@tinkernetes/apimachinery';

/** Versions of ConversionReview that this server speaks. */
const reviewVersions: readonly string[] = ['v1', 'v1beta1'];

export interface ConversionRequest {
  objects: readonly KubeObject[];
  desiredApiVersion: string;
  uid: string;
  /** What the webhook understands, in its order of preference. */
  reviewVersions: readonly string[];
}

/**
 * The question to a conversion webhook. Source:
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#webhook-request-and-response
 */
export function conversionReview({ objects, desiredApiVersion, uid, ...request }: ConversionRequest): {
  kind: string;
  apiVersion: string;
  request: object;
} {
  const version = request.reviewVersions.find((v) => reviewVersions.includes(v));
  if (version === undefined) throw new StatusError('Unknown', 'no supported conversion review versions');
  return {
    kind: 'ConversionReview',
    apiVersion: `apiextensions.k8s.io/${version}`,
    request: { uid, desiredAPIVersion: desiredApiVersion, objects },
  };
}

interface ReviewAnswer {
  kind?: string;
  apiVersion?: string;
  response?: {
    uid?: string;
    convertedObjects?: unknown[];
    result?: { status?: string; message?: string };
  };
}

/** The converted objects of an answer. Throws an Error that says what is wrong with it. */
export function convertedObjects(answer: unknown, asked: { apiVersion: string; uid: string }): unknown[] {
  const { kind = '', apiVersion = '', response } = (isObject(answer) ? answer : {}) as ReviewAnswer;
  const isV1 = asked.apiVersion.endsWith('/v1');
  if (isV1 && (kind !== 'ConversionReview' || apiVersion !== asked.apiVersion)) {
    throw new Error(
      `expected webhook response of ${asked.apiVersion}, Kind=ConversionReview, got ${apiVersion || '/'}, Kind=${kind}`,
    );
  }
  if (!response) throw new Error('no response provided');
  if (isV1 && response.uid !== asked.uid) {
    throw new Error(
      `expected response.uid=${JSON.stringify(asked.uid)}, got ${JSON.stringify(response.uid ?? '')}`,
    );
  }
  const { status = '', message } = response.result ?? {};
  if (status !== 'Success')
    throw new Error(message || `response.result.status was '${status}', not 'Success'`);
  return response.convertedObjects ?? [];
}

/** How messages show an object's type. */
export const typeOf = ({ apiVersion = '', kind = '' }: Partial<KubeObject>): string =>
  `${apiVersion}, Kind=${kind}`;

/**
 * A converted object with the original's metadata, of which only labels and annotations may have become others.
 * Throws StatusError for an object that is not the original one in the wanted version.
 */
export function checkedObject(original: KubeObject, given: unknown, wanted: string): KubeObject {
  const refuse = (what: string) =>
    new StatusError('Unknown', `conversion webhook for ${typeOf(original)} returned invalid ${what}`);
  const converted = (isObject(given) ? given : {}) as unknown as KubeObject;
  if (converted.apiVersion !== wanted) {
    throw refuse(
      `object at index 0: invalid groupVersion (expected ${wanted}, received ${converted.apiVersion ?? ''})`,
    );
  }
  if (converted.kind !== original.kind) {
    throw refuse(
      `object at index 0: invalid kind (expected ${original.kind ?? ''}, received ${converted.kind ?? ''})`,
    );
  }
  const metadata: unknown = converted.metadata;
  const other = differingIdentity(original, isObject(metadata) ? metadata : {});
  if (other) throw refuse(`object: ${other}`);
  if (metadata === undefined) throw refuse('metadata: missing metadata in converted object');
  if (!isObject(metadata)) {
    throw refuse(`metadata: invalid metadata of type ${goType(metadata)} in converted object`);
  }
  const wrong = metadataError(original, metadata);
  if (wrong) throw refuse(`metadata: ${wrong}`);
  const { labels: _l, annotations: _a, ...kept } = original.metadata;
  const { labels, annotations } = metadata as Partial<KubeObject['metadata']>;
  return {
    ...converted,
    metadata: { ...kept, ...(labels && { labels }), ...(annotations && { annotations }) },
  };
}

const identity = [
  ['name', 'name'],
  ['namespace', 'namespace'],
  ['uid', 'UID'],
] as const;

function differingIdentity(original: KubeObject, converted: Record<string, unknown>): string | undefined {
  for (const [field, shown] of identity) {
    const before = original.metadata[field] ?? '';
    const after = converted[field] ?? '';
    if (before !== after) return `must have the same ${shown}: ${before} != ${String(after)}`;
  }
  return undefined;
}

const checks = {
  labels: (value: Record<string, string>) => validateLabels(value, 'metadata.labels'),
  annotations: (value: Record<string, string>) => validateAnnotations(value, 'metadata.annotation'),
};

function metadataError(original: KubeObject, converted: Record<string, unknown>): string | undefined {
  for (const field of ['labels', 'annotations'] as const) {
    const value = converted[field];
    if (value === undefined || value === null) continue;
    if (!isObject(value)) return `invalid metadata.${field} of type ${goType(value)} in converted object`;
    for (const [key, text] of Object.entries(value)) {
      if (typeof text === 'string') continue;
      return `metadata.${field}[${key}] must be a string, but is ${goType(text)} in converted object`;
    }
    if (JSON.stringify(value) === JSON.stringify(original.metadata[field] ?? {})) continue;
    const errors = checks[field](value as Record<string, string>).map((e) => `${e.field}: ${e.message}`);
    if (errors.length) return errors.length === 1 ? errors[0] : `[${errors.join(', ')}]`;
  }
  return undefined;
}

/** The Go type of a JSON value. */
function goType(value: unknown): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'number':
      return Number.isInteger(value) ? 'int64' : 'float64';
    case 'object':
      return 'map[string]interface {}';
    default:
      return 'string';
  }
}
