/** An OpenAPI v3 schema as Kubernetes uses it; `$ref` is `#/<full schema name>`. */
export interface OpenAPISchema {
  type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  format?: string;
  description?: string;
  default?: unknown;
  enum?: string[];
  required?: string[];
  properties?: Record<string, OpenAPISchema>;
  additionalProperties?: OpenAPISchema;
  items?: OpenAPISchema;
  $ref?: string;
  allOf?: OpenAPISchema[];
  oneOf?: OpenAPISchema[];
  'x-kubernetes-group-version-kind'?: Array<{ group: string; version: string; kind: string }>;
  'x-kubernetes-patch-strategy'?: string;
  'x-kubernetes-patch-merge-key'?: string;
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-map-type'?: 'atomic' | 'granular';
  'x-kubernetes-unions'?: Array<{
    discriminator?: string;
    'fields-to-discriminateBy': Record<string, string>;
  }>;
}
export type SchemaFacts = Record<string, OpenAPISchema>;

/**
 * What the wire schema does not tell about the Go types that upstream encodes, by full schema name: the fields in their
 * order, as `name:code` joined by spaces. Code: `*` a pointer; `s` string, `b` bool, `n` number, `t` struct, `l` list,
 * `m` map, `y` bytes, `i` interface; `e` omitempty, `z` omitzero. Source: the structs' tags in k8s.io/api.
 */
export type GoFieldFacts = Record<string, string>;

/**
 * The structs that upstream's server works with inside, which its messages show: the fields under their Go names, in
 * their order, as `Name:type` joined by spaces. Type: `*` a pointer to, `[]` a list of, `{}` a map of; `s` string,
 * `b` bool, `n` number, else another struct. `@ObjectMeta` stands for the embedded metadata. Source: pkg/apis.
 */
export type InternalFieldFacts = Record<string, string>;

export interface APIResourceFact {
  name: string;
  singularName: string;
  namespaced: boolean;
  kind: string;
  group?: string;
  version?: string;
  verbs: string[];
  shortNames?: string[];
  categories?: string[];
  storageVersionHash?: string;
}
/** Discovery documents by path. `/api` and `/apis` have other shapes than `/api/v1` and `/apis/{group}/{version}`. */
export type DiscoveryFacts = Record<
  string,
  { kind: string; groupVersion?: string; resources?: APIResourceFact[]; [key: string]: unknown }
>;
export type AggregatedDiscoveryFacts = {
  apiVersion: string;
  kind: string;
  items: unknown[];
  [key: string]: unknown;
};
export interface TableColumnFact {
  name: string;
  type: string;
  format: string;
  priority: number;
}
/** Table columns by list path without a namespace, e.g. `/api/v1/pods`. */
export type TableColumnFacts = Record<string, TableColumnFact[]>;
/** Message (full protobuf name) → field → [number, type]. */
export type ProtobufFacts = Record<string, Record<string, [number, string]>>;
/** Objects that a fresh control plane creates, by lower-case plural resource. */
export type BootstrapFacts = Record<string, Array<import('./resource-descriptor').KubeObject>>;
