import type { HorizontalPodAutoscaler, MetricSpec, Pod } from '@tinkernetes/api';
import { notFound } from '@tinkernetes/apimachinery';
import type { RawRequest } from '@tinkernetes/client';
import { VirtualClock } from '@tinkernetes/component-base/testing';
import { KindMapper } from './kind-mapper';
import { MetricError, proposeByMetric } from './metric-proposal';
import { MetricsClient } from './metrics-client';

const timestamp = '2026-01-01T00:00:00Z';
const now = Date.parse(timestamp);
const pods: Pod[] = ['a', 'b'].map((name) => ({
  metadata: { name, namespace: 'ns' },
  spec: { containers: [{ name: 'main', resources: { requests: { cpu: '100m', memory: '10Mi' } } }] },
  status: {
    phase: 'Running',
    startTime: '2025-12-31T00:00:00Z',
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2025-12-31T00:00:00Z' }],
  },
}));
const autoscaler: HorizontalPodAutoscaler = {
  metadata: { name: 'web', namespace: 'ns' },
  spec: { maxReplicas: 10, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } },
};
const podMetrics = (cpu: string, memory: string) => ({
  items: pods.map(({ metadata }) => ({
    metadata,
    timestamp,
    window: '10s',
    containers: [{ name: 'main', usage: { cpu, memory } }],
  })),
});
const custom = { versions: [{ version: 'v1beta1' }, { version: 'v1beta2' }] };
const resources = (...names: [name: string, kind: string, namespaced: boolean][]) => ({
  resources: names.map(([name, kind, namespaced]) => ({ name, kind, namespaced })),
});
const groups = {
  groups: [
    {
      name: 'networking.k8s.io',
      versions: [{ version: 'v1', groupVersion: 'networking.k8s.io/v1' }],
    },
  ],
};
const answers: Record<string, object> = {
  '/apis/custom.metrics.k8s.io': custom,
  '/apis': groups,
  '/apis/networking.k8s.io/v1': resources(['ingresses', 'Ingress', true]),
  '/api/v1': resources(['namespaces', 'Namespace', false], ['services', 'Service', true]),
};

/** Proposes with these answers, and says what was asked for. */
async function propose(spec: MetricSpec, more: Record<string, object>) {
  const asked: string[] = [];
  const client = {
    request: <R>({ path }: RawRequest): Promise<R> => {
      asked.push(decodeURIComponent(path));
      const answer = more[decodeURIComponent(path)] ?? answers[path];
      return answer
        ? Promise.resolve(answer as R)
        : Promise.reject(notFound({ group: '', resource: '' }, ''));
    },
  };
  const clock = new VirtualClock(now);
  const proposal = await proposeByMetric(spec, {
    metrics: new MetricsClient(client, new KindMapper(client, clock), clock),
    autoscaler,
    pods,
    selector: 'app=web',
    specReplicas: 2,
    statusReplicas: 2,
    tolerances: { up: 0.1, down: 0.1 },
    rules: { now, cpuInitializationMs: 0, initialReadinessDelayMs: 0 },
  });
  return { ...proposal, asked };
}

const resourcePath = '/apis/metrics.k8s.io/v1beta1/namespaces/ns/pods?labelSelector=app=web';
const customPath = '/apis/custom.metrics.k8s.io/v1beta2';
const selector = { matchLabels: { queue: 'mail' } };
const values = (...quantities: string[]) => ({
  items: quantities.map((value, i) => ({ describedObject: { name: 'ab'[i] ?? '' }, timestamp, value })),
});

describe('proposeByMetric', () => {
  it.each<[name: string, MetricSpec, answers: Record<string, object>, replicas: number, status: object]>([
    [
      'cpu resource utilization (percentage of request)',
      {
        type: 'Resource',
        resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
      },
      { [resourcePath]: podMetrics('100m', '10Mi') },
      4,
      { resource: { name: 'cpu', current: { averageUtilization: 100, averageValue: '100m' } } },
    ],
    [
      'memory resource',
      {
        type: 'Resource',
        resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '5Mi' } },
      },
      { [resourcePath]: podMetrics('1m', '10Mi') },
      4,
      { resource: { name: 'memory', current: { averageValue: '10Mi' } } },
    ],
    [
      'cpu container resource utilization (percentage of request)',
      {
        type: 'ContainerResource',
        containerResource: {
          name: 'cpu',
          container: 'main',
          target: { type: 'Utilization', averageUtilization: 50 },
        },
      },
      { [resourcePath]: podMetrics('100m', '10Mi') },
      4,
      { containerResource: { name: 'cpu', container: 'main', current: { averageUtilization: 100 } } },
    ],
    [
      'pods metric qps',
      {
        type: 'Pods',
        pods: { metric: { name: 'qps' }, target: { type: 'AverageValue', averageValue: '10' } },
      },
      { [`${customPath}/namespaces/ns/pods/*/qps?labelSelector=app=web`]: values('20', '20') },
      4,
      { pods: { metric: { name: 'qps' }, current: { averageValue: '20' } } },
    ],
    [
      'Ingress metric hits',
      {
        type: 'Object',
        object: {
          describedObject: { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'main' },
          metric: { name: 'hits', selector },
          target: { type: 'Value', value: '100' },
        },
      },
      {
        [`${customPath}/namespaces/ns/ingresses.networking.k8s.io/main/hits?metricLabelSelector=queue=mail`]:
          values('150'),
      },
      3,
      { object: { current: { value: '150' } } },
    ],
    [
      'external metric hits(nil)',
      {
        type: 'Object',
        object: {
          describedObject: { apiVersion: 'v1', kind: 'Namespace', name: 'ns' },
          metric: { name: 'hits' },
          target: { type: 'AverageValue', averageValue: '100' },
        },
      },
      { [`${customPath}/namespaces/ns/metrics/hits`]: values('600') },
      6,
      { object: { current: { averageValue: '300' } } },
    ],
    [
      'external metric length(&LabelSelector{MatchLabels:map[string]string{queue: mail,},MatchExpressions:[]LabelSelectorRequirement{},})',
      {
        type: 'External',
        external: {
          metric: { name: 'length', selector },
          target: { type: 'AverageValue', averageValue: '30' },
        },
      },
      {
        '/apis/external.metrics.k8s.io/v1beta1/namespaces/ns/length?labelSelector=queue=mail': values(
          '100',
          '50',
        ),
      },
      5,
      { external: { current: { averageValue: '75' } } },
    ],
  ])('%s', async (name, spec, more, replicas, status) => {
    const { name: proposedName, replicas: proposed, status: shown } = await propose(spec, more);
    expect({ name: proposedName, replicas: proposed }).toEqual({ name, replicas });
    expect(shown).toMatchObject({ type: spec.type, ...status });
  });

  it.each<[MetricSpec, answers: Record<string, object>, reason: string, detail: string]>([
    [
      {
        type: 'Resource',
        resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
      },
      {},
      'FailedGetResourceMetric',
      'failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)',
    ],
    [
      {
        type: 'Resource',
        resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
      },
      { [resourcePath]: { items: [] } },
      'FailedGetResourceMetric',
      'failed to get cpu utilization: unable to get metrics for resource cpu: no metrics returned from resource metrics API',
    ],
    [
      {
        type: 'Pods',
        pods: { metric: { name: 'qps' }, target: { type: 'AverageValue', averageValue: '10' } },
      },
      { [`${customPath}/namespaces/ns/pods/*/qps?labelSelector=app=web`]: { items: [] } },
      'FailedGetPodsMetric',
      'unable to get metric qps: no metrics returned from custom metrics API',
    ],
    [
      {
        type: 'External',
        external: { metric: { name: 'length' }, target: { type: 'Value', value: '30' } },
      },
      {},
      'FailedGetExternalMetric',
      'unable to get external metric ns/length/nil: unable to fetch metrics from external metrics API: the server could not find the requested resource (get length.external.metrics.k8s.io)',
    ],
    [{ type: 'Other' }, {}, 'InvalidMetricSourceType', 'unknown metric source type "Other"'],
  ])('says why %j gives nothing', async (spec, more, reason, detail) => {
    const error: unknown = await propose(spec, more).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(MetricError);
    expect(error).toMatchObject({ reason, detail });
  });
});
