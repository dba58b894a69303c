export interface ParsedJson {
  value: unknown;
  /** Paths of keys that occur twice in one object, e.g. `data.a`. */
  duplicates: string[];
  /** Of YAML: what go-yaml's strict decoder says of each key that occurs twice in one map. */
  duplicateLines?: string[];
  /** Whether something lay deeper than `maxDepth`: `hasCuts` says where a value still has its place. */
  isCut?: boolean;
}
