import { Nodes, Pods, type KubeObject } from '@tinkernetes/api';
import {
  badRequest,
  FieldSelector,
  notFound,
  parseFieldSelector,
  parseLabelSelector,
  Selector,
} from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import type { ApiRequest, CreateSubresourceHandlers, SubresourceHandler } from '../contracts';
import { KubeletConnections } from '../proxy/kubelet-connection';
import { group, nodeMetrics, podMetrics, type NodeMetrics, type PodMetrics } from './metrics-objects';
import { sendMetrics, sendMetricsList } from './render';
import { StatsReader } from './stats-summary';

export { installMetricsApi } from './install';

/**
 * `metrics.k8s.io/v1beta1`: what nodes and Pods use now, read from the kubelets when somebody asks.
 * Source: https://kubernetes.io/docs/tasks/debug/debug-cluster/resource-metrics-pipeline/
 */
export const createMetricsHandlers: CreateSubresourceHandlers = (deps) => {
  const { stores, context } = deps;
  const stats = new StatsReader({
    kubelets: new KubeletConnections(deps),
    clock: context.clock,
    logger: context.logger,
  });
  const now = () => formatTime(context.clock.now());
  return new Map([
    [
      `${group}/nodes/`,
      metricsHandler({
        kind: 'NodeMetrics',
        resource: 'nodes',
        get: (name) => stores.for(Nodes).peek(name),
        list: () => stores.for(Nodes).list(),
        measure: async (node) => nodeMetrics(node, await stats.read(node.metadata.name), now()),
      }),
    ],
    [
      `${group}/pods/`,
      metricsHandler({
        kind: 'PodMetrics',
        resource: 'pods',
        get: (name, namespace) => stores.for(Pods).peek(name, namespace),
        list: (namespace) => stores.for(Pods).list(namespace || undefined),
        measure: async (pod) => {
          const nodeName = pod.spec?.nodeName;
          return nodeName ? podMetrics(pod, await stats.read(nodeName), now()) : undefined;
        },
      }),
    ],
  ]);
};

interface MetricsSource<T extends KubeObject> {
  kind: 'NodeMetrics' | 'PodMetrics';
  resource: string;
  get(name: string, namespace: string): T | undefined;
  list(namespace: string): readonly T[];
  /** undefined: nothing is known of it. */
  measure(object: T): Promise<NodeMetrics | PodMetrics | undefined>;
}

/** Objects are chosen by their own names, namespaces and labels; those without metrics are left out. */
function metricsHandler<T extends KubeObject>(source: MetricsSource<T>): SubresourceHandler {
  return async (request) => {
    const { verb, name, namespace } = request.info;
    if (verb === 'get') {
      const object = source.get(name, namespace);
      const metrics = object && (await source.measure(object));
      const shown = namespace ? `${namespace}/${name}` : name;
      if (!metrics) throw notFound({ group, resource: source.resource }, shown);
      sendMetrics(request, metrics);
      return;
    }
    const chosen = source.list(namespace).filter(selection(request)).sort(byNamespaceAndName);
    const items = await Promise.all(chosen.map((object) => source.measure(object)));
    sendMetricsList(
      request,
      source.kind,
      items.filter((item) => item !== undefined),
    );
  };
}

function selection({ query }: ApiRequest): (object: KubeObject) => boolean {
  const labels = parsed(query.get('labelSelector'), parseLabelSelector, Selector.everything);
  const fields = parsed(query.get('fieldSelector'), parseFieldSelector, FieldSelector.everything);
  return ({ metadata }) =>
    labels.matches(metadata.labels) &&
    fields.matches({ 'metadata.name': metadata.name, 'metadata.namespace': metadata.namespace ?? '' });
}

function parsed<T>(text: string | null, parse: (text: string) => T, everything: T): T {
  if (!text) return everything;
  try {
    return parse(text);
  } catch (error) {
    throw badRequest(error instanceof Error ? error.message : String(error), error);
  }
}

const pathOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name}`;
const byNamespaceAndName = (a: KubeObject, b: KubeObject): number => (pathOf(a) < pathOf(b) ? -1 : 1);
