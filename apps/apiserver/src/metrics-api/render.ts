import { Quantity } from '@tinkernetes/apimachinery';
import type { ApiRequest } from '../contracts';
import { negotiate, type Negotiated } from '../endpoints/negotiation';
import { serialize } from '../endpoints/presenter';
import { includeObjectOf } from '../endpoints/table';
import { sendBytes } from '../server/respond';
import { group, version, type NodeMetrics, type PodMetrics, type Usage } from './metrics-objects';

type Metrics = NodeMetrics | PodMetrics;

/** Answers with a list, as the client asked to see it. */
export function sendMetricsList(request: ApiRequest, kind: Metrics['kind'], items: readonly Metrics[]): void {
  const list = {
    kind: `${kind}List`,
    apiVersion: `${group}/${version}`,
    metadata: {},
    items: items.map(({ kind: _k, apiVersion: _a, ...rest }) => rest),
  };
  send(request, 'list', items, list);
}

export const sendMetrics = (request: ApiRequest, item: Metrics): void =>
  send(request, 'object', [item], item);

function send(request: ApiRequest, scope: 'list' | 'object', items: readonly Metrics[], plain: object): void {
  const negotiated = negotiate(request.raw.headers.accept, { protobuf: false, scope });
  const value = transformed(request, negotiated, items, plain);
  sendBytes(request.response, 200, negotiated.contentType, serialize(value, negotiated));
}

function transformed(
  request: ApiRequest,
  { transform, transformVersion = 'v1' }: Negotiated,
  items: readonly Metrics[],
  plain: object,
): object {
  const apiVersion = `meta.k8s.io/${transformVersion}`;
  const partial = (item: Metrics) => ({
    kind: 'PartialObjectMetadata',
    apiVersion,
    metadata: item.metadata,
  });
  switch (transform) {
    case 'Table': {
      const include = includeObjectOf(request.query);
      const rowObject = (item: Metrics) =>
        include === 'None' ? null : include === 'Object' ? item : partial(item);
      return {
        kind: 'Table',
        apiVersion,
        metadata: {},
        columnDefinitions: columns,
        rows: items.map((item) => ({ cells: cellsOf(item), object: rowObject(item) })),
      };
    }
    case 'PartialObjectMetadata':
      return partial(items[0] as Metrics);
    case 'PartialObjectMetadataList':
      return { kind: transform, apiVersion, metadata: {}, items: items.map(partial) };
    default:
      return plain;
  }
}

const column = (name: string, format: string, description = '') => ({
  name,
  type: 'string',
  format,
  description,
  priority: 0,
});

/** As the metrics server's. Source: sigs.k8s.io/metrics-server/pkg/api/table.go. */
const columns = [
  column('Name', 'name', 'Name of the resource'),
  column('cpu', 'quantity'),
  column('memory', 'quantity'),
  column('Window', 'duration'),
];

function cellsOf(item: Metrics): string[] {
  const usage = 'usage' in item ? item.usage : totalOf(item);
  return [item.metadata.name, usage.cpu, usage.memory, item.window];
}

function totalOf({ containers }: PodMetrics): Usage {
  const sum = (resource: keyof Usage): string =>
    containers
      .map(({ usage }) => Quantity.parse(usage[resource]))
      .reduce((total, each) => total.add(each))
      .toString();
  return { cpu: sum('cpu'), memory: sum('memory') };
}
