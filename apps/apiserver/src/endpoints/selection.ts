import type { KubeObject } from '@tinkernetes/api';
import {
  badRequest,
  FieldSelector,
  parseFieldSelector,
  parseLabelSelector,
  Selector,
} from '@tinkernetes/apimachinery';
import type { CacheEntry } from '../cacher/cache-entry';
import type { ServedResource } from '../registry/generic/served-resource';
import type { ResourceRequest } from './context';
import { objectOf } from './presenter';

/** Which objects of a resource a list, watch or deletecollection is about. */
export interface Selection {
  /** undefined: all namespaces. */
  namespace: string | undefined;
  /** Only the object of this name. */
  name: string | undefined;
  /** Whether label or field selectors are in play. */
  selective: boolean;
  matches(entry: CacheEntry): boolean;
}

const metaFields = ['metadata.name', 'metadata.namespace'];

export function selectionOf(request: ResourceRequest): Selection {
  const { resource, query } = request;
  const labels = parsed(query.get('labelSelector'), parseLabelSelector, Selector.everything);
  const fields = parsed(query.get('fieldSelector'), parseFieldSelector, FieldSelector.everything);
  checkFields(fields, resource);
  const namespace = request.namespace || fields.exactValue('metadata.namespace') || undefined;
  // The deprecated watch path of one object names it.
  const ofPath = request.info.watchPath && request.info.parts.length > 1 ? request.info.name : undefined;
  const name = fields.exactValue('metadata.name') ?? ofPath;
  const others = fields.requirements.some(({ field }) => !metaFields.includes(field));
  return {
    namespace: resource.descriptor.namespaced ? namespace : '',
    name,
    selective: !labels.isEverything || !fields.isEverything || ofPath !== undefined,
    matches(entry) {
      if (ofPath !== undefined && entry.name !== ofPath) return false;
      if (!labels.isEverything && !labels.matches(selectable(resource, entry).metadata.labels)) return false;
      return fields.isEverything || fields.matches(fieldsOf(resource, entry, others));
    },
  };
}

function fieldsOf(resource: ServedResource, entry: CacheEntry, others: boolean): Record<string, string> {
  const meta = { 'metadata.name': entry.name, 'metadata.namespace': entry.namespace };
  if (!others) return meta;
  return { ...resource.strategy.selectableFields?.(selectable(resource, entry)), ...meta };
}

/** What selectors look at: a webhook may give another version other labels. */
const selectable = (resource: ServedResource, entry: CacheEntry): KubeObject =>
  resource.prepare ? objectOf(resource, entry) : entry.object;

function parsed<T>(text: string | null, parse: (text: string) => T, everything: T): T {
  if (!text) return everything;
  try {
    return parse(text);
  } catch (error) {
    throw badRequest(error instanceof Error ? error.message : String(error), error);
  }
}

/** Kinds with fields of their own name all that they know: a namespace only where they have one. */
function checkFields(fields: FieldSelector, { strategy, descriptor }: ServedResource): void {
  if (fields.isEverything) return;
  const { selectableFieldNames: own, unsupportedField } = strategy;
  const known = own
    ? ['metadata.name', ...(descriptor.namespaced ? ['metadata.namespace'] : []), ...own]
    : metaFields;
  const unknown = fields.requirements.find(({ field }) => !known.includes(field));
  if (!unknown) return;
  const { field } = unknown;
  if (!own) {
    throw badRequest(`"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`);
  }
  throw badRequest(unsupportedField?.(field) ?? `field label not supported: ${field}`);
}
