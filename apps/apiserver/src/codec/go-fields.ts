import { loadGoFields, loadSchemas, type OpenAPISchema } from '@tinkernetes/api';

/** How Go declares a field. */
export interface GoField {
  readonly pointer: boolean;
  /** `s` string, `b` bool, `n` number, `t` struct, `l` list, `m` map, `y` bytes, `i` interface. */
  readonly type: string;
  readonly omitempty: boolean;
  readonly omitzero: boolean;
  /** A list that validation lets be empty: null is written then, as what is stored as protobuf doesn't know an empty one. */
  readonly mayBeNull?: boolean;
}

/** Lists without omitempty that may be empty. All others are refused when they are. */
export const nullLists: ReadonlySet<string> = new Set([
  'AllocatedDeviceStatus.conditions',
  'ClusterRole.rules',
  'ContainerImage.names',
  'CSINodeDriver.topologyKeys',
  'CSINodeSpec.drivers',
  'CustomResourceDefinitionStatus.conditions',
  'CustomResourceDefinitionStatus.storedVersions',
  'DeviceClaim.requests',
  'EndpointSlice.endpoints',
  'EndpointSlice.ports',
  'HorizontalPodAutoscalerStatus.currentMetrics',
  'LimitRangeSpec.limits',
  'PodFailurePolicy.rules',
  'ProjectedVolumeSource.sources',
  'ResourcePolicyRule.namespaces',
  'Role.rules',
]);

/** Fields in the order in which Go declares, and so writes, them. */
export function orderedFields(schemaName: string, schema: OpenAPISchema): [string, OpenAPISchema, GoField][] {
  const properties = schema.properties ?? {};
  const declared = (loadGoFields()[schemaName] ?? '').split(' ').filter(Boolean);
  return declared.flatMap((text) => {
    const [name = '', code = ''] = text.split(':');
    const property = properties[name];
    return property ? [[name, property, goField(code)] as [string, OpenAPISchema, GoField]] : [];
  });
}

/** Names of a type's fields as Go declares them. */
export const fieldNames = (schemaName: string): string[] =>
  orderedFields(schemaName, loadSchemas()[schemaName] ?? {}).map(([name]) => name);

const goField = (code: string): GoField => ({
  pointer: code.startsWith('*'),
  type: code.replace('*', '').charAt(0),
  omitempty: code.includes('e'),
  omitzero: code.includes('z'),
});

/** Users' identities are plain text, objects' are not. */
const userStructs: ReadonlySet<string> = new Set([
  'CertificateSigningRequestSpec',
  'SubjectAccessReviewSpec',
  'UserInfo',
]);

/** The Go type of a text field, where messages name another than string. */
export function namedType(struct: string, field: string): string | undefined {
  if (field === 'uid') return userStructs.has(struct) ? undefined : 'types.UID';
  return field === 'propagationPolicy' ? 'v1.DeletionPropagation' : undefined;
}
