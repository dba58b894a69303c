import type { JSONSchemaProps, ResourceDescriptor } from '@tinkernetes/api';
import { customCodec } from '../custom-resources/custom-codec';
import { customTyping } from '../custom-resources/custom-typing';
import type { ServedResource } from '../registry/generic/served-resource';
import { group, version } from './metrics-objects';

const usage: JSONSchemaProps = {
  type: 'object',
  additionalProperties: {
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    'x-kubernetes-int-or-string': true,
  },
};
const measured: Record<string, JSONSchemaProps> = {
  timestamp: { type: 'string', format: 'date-time' },
  window: { type: 'string' },
};

const nodeSchema: JSONSchemaProps = { type: 'object', properties: { ...measured, usage } };
const podSchema: JSONSchemaProps = {
  type: 'object',
  properties: {
    ...measured,
    containers: {
      type: 'array',
      items: { type: 'object', properties: { name: { type: 'string' }, usage } },
    },
  },
};

/** What discovery and OpenAPI say of the metrics API; nothing of it is stored. Source: k8s.io/metrics/pkg/apis/metrics. */
export const metricsResources = (): ServedResource[] => [
  served({ resource: 'nodes', kind: 'NodeMetrics', namespaced: false }, nodeSchema),
  served({ resource: 'pods', kind: 'PodMetrics', namespaced: true }, podSchema),
];

function served(
  names: Pick<ResourceDescriptor, 'resource' | 'kind' | 'namespaced'>,
  schema: JSONSchemaProps,
): ServedResource {
  const descriptor: ResourceDescriptor = { group, version, ...names };
  return {
    descriptor,
    listKind: `${names.kind}List`,
    singular: '',
    shortNames: [],
    categories: [],
    verbs: new Set(['get', 'list']),
    subresources: new Map(),
    codec: customCodec(descriptor, schema),
    typing: customTyping(descriptor, schema),
    strategy: {},
    hooks: {},
    custom: true,
    schema,
    store: undefined,
  };
}
