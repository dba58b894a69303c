import type {
  CustomResourceColumnDefinition,
  JSONSchemaProps,
  KubeObject,
  ResourceDescriptor,
} from '@tinkernetes/api';
import type { Strategy, WriteHooks } from '../../contracts';
import type { ScaleMapping } from '../../endpoints/subresources/scale';
import type { CacheEntry } from '../../cacher/cache-entry';
import type { ObjectCodec } from '../../codec/object-codec';
import type { FieldTyping } from './field-tracking';
import type { GenericStore } from './generic-store';

/** A subresource as discovery names it. */
export interface ServedSubresource {
  name: string;
  kind: string;
  /** Where the kind is another group's: `autoscaling/v1` Scale. */
  group: string;
  version: string;
  verbs: readonly string[];
}

/** One resource in one version, as it is served. Versions of one resource share their store. */
export interface ServedResource {
  readonly descriptor: ResourceDescriptor;
  readonly listKind: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: ReadonlySet<string>;
  readonly subresources: ReadonlyMap<string, ServedSubresource>;
  readonly codec: ObjectCodec;
  readonly strategy: Strategy;
  readonly hooks: WriteHooks;
  /** Where a custom resource keeps its replicas; workloads of the built-in groups need none. */
  readonly scale?: ScaleMapping;
  readonly custom: boolean;
  /** For field ownership; made when first needed. */
  readonly typing: () => FieldTyping;
  /** A custom resource's additional Table columns and schema. */
  readonly columns?: readonly CustomResourceColumnDefinition[];
  readonly schema?: JSONSchemaProps;
  /** Sent as a warning with every answer. */
  readonly deprecationWarning?: string;
  /** To the version that is stored, where this is another. */
  toStorage?(object: KubeObject): KubeObject;
  /** Where a webhook converts: has to have resolved before the entries are read in this version. */
  prepare?(entries: readonly CacheEntry[]): Promise<void>;
  /** Its definition is being deleted: no more objects. */
  readonly isTerminating?: boolean;
  /** As discovery shows it for custom resources; built-in ones have theirs in the facts. */
  readonly storageVersionHash?: string;
  /** undefined: nothing is stored (reviews). */
  readonly store: GenericStore | undefined;
}
