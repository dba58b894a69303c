import { isObject } from '@tinkernetes/apimachinery';
import type {
  AutoscalingV1HorizontalPodAutoscaler,
  HorizontalPodAutoscaler,
  KubeObject,
} from '@tinkernetes/api';

type V1 = AutoscalingV1HorizontalPodAutoscaler;
type V2 = HorizontalPodAutoscaler;

const metricsAnnotation = 'autoscaling.alpha.kubernetes.io/metrics';
const currentAnnotation = 'autoscaling.alpha.kubernetes.io/current-metrics';
const conditionsAnnotation = 'autoscaling.alpha.kubernetes.io/conditions';
const behaviorAnnotation = 'autoscaling.alpha.kubernetes.io/behavior';
const annotations = [metricsAnnotation, currentAnnotation, conditionsAnnotation, behaviorAnnotation];

type Metric = NonNullable<NonNullable<V2['spec']>['metrics']>[number];
type CurrentMetric = NonNullable<NonNullable<V2['status']>['currentMetrics']>[number];

/**
 * A HorizontalPodAutoscaler between autoscaling/v2, as it is stored, and v1, which keeps what it has no fields for in
 * annotations. Source: pkg/apis/autoscaling/v1/conversion.go.
 */
export function convertAutoscaler(object: KubeObject, apiVersion: string): KubeObject {
  if (object.apiVersion === apiVersion) return object;
  return apiVersion === 'autoscaling/v1' ? toV1(object as V2) : toV2(object as V1);
}

const isCpu = (metric: Metric): boolean =>
  metric.type === 'Resource' &&
  metric.resource?.name === 'cpu' &&
  metric.resource.target.type === 'Utilization';
const isCurrentCpu = (metric: CurrentMetric): boolean =>
  metric.type === 'Resource' &&
  metric.resource?.name === 'cpu' &&
  metric.resource.current.averageUtilization !== undefined;

function toV1({ metadata, spec, status }: V2): V1 {
  const {
    metrics = [],
    behavior,
    ...common
  } = spec ?? { maxReplicas: 0, scaleTargetRef: { kind: '', name: '' } };
  const cpu = metrics.find(isCpu);
  const { currentMetrics: given, conditions = [], ...counts } = status ?? { desiredReplicas: 0 };
  // Null when there are none: the field is always written.
  const currentMetrics = given ?? [];
  const current = currentMetrics.find(isCurrentCpu);
  const kept = {
    [metricsAnnotation]: textOf(metrics.filter((m) => m !== cpu)),
    [currentAnnotation]: textOf(currentMetrics.filter((m) => m !== current)),
    [conditionsAnnotation]: textOf(conditions),
    [behaviorAnnotation]: behavior && JSON.stringify(behavior),
  };
  return {
    kind: 'HorizontalPodAutoscaler',
    apiVersion: 'autoscaling/v1',
    metadata: withAnnotations(metadata, kept),
    spec: { ...common, targetCPUUtilizationPercentage: cpu?.resource?.target.averageUtilization },
    status: {
      ...counts,
      currentReplicas: counts.currentReplicas ?? 0,
      currentCPUUtilizationPercentage: current?.resource?.current.averageUtilization,
    },
  } as V1;
}

function toV2({ metadata, spec, status }: V1): V2 {
  const { targetCPUUtilizationPercentage, ...common } = spec ?? {
    maxReplicas: 0,
    scaleTargetRef: { kind: '', name: '' },
  };
  const { currentCPUUtilizationPercentage, ...counts } = status ?? { currentReplicas: 0, desiredReplicas: 0 };
  const kept = metadata.annotations ?? {};
  const cpu: Metric[] =
    targetCPUUtilizationPercentage === undefined ? [] : [resourceMetric(targetCPUUtilizationPercentage)];
  const metrics = [...cpu, ...listIn<Metric>(kept[metricsAnnotation])];
  const current = [
    ...(currentCPUUtilizationPercentage === undefined
      ? []
      : [currentResource(currentCPUUtilizationPercentage)]),
    ...listIn<CurrentMetric>(kept[currentAnnotation]),
  ];
  const behavior = valueIn(kept[behaviorAnnotation]);
  return {
    kind: 'HorizontalPodAutoscaler',
    apiVersion: 'autoscaling/v2',
    metadata: withAnnotations(metadata, Object.fromEntries(annotations.map((name) => [name, undefined]))),
    spec: {
      ...common,
      ...(metrics.length ? { metrics } : undefined),
      ...(isObject(behavior) ? { behavior } : undefined),
    },
    status: {
      ...counts,
      ...(current.length ? { currentMetrics: current } : undefined),
      ...(kept[conditionsAnnotation] ? { conditions: listIn(kept[conditionsAnnotation]) } : undefined),
    },
  } as V2;
}

const resourceMetric = (averageUtilization: number): Metric => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});
const currentResource = (averageUtilization: number): CurrentMetric =>
  ({ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization } } }) as CurrentMetric;

const textOf = (list: readonly unknown[]): string | undefined =>
  list.length ? JSON.stringify(list) : undefined;

/** An annotation that somebody else wrote may be anything; what is no list counts as none. */
function listIn<T>(text: string | undefined): T[] {
  const value = valueIn(text);
  return Array.isArray(value) ? (value as T[]) : [];
}

function valueIn(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function withAnnotations<M extends KubeObject['metadata']>(
  metadata: M,
  changes: Record<string, string | undefined>,
): M {
  const all = Object.entries({ ...metadata.annotations, ...changes }).filter(
    ([, value]) => value !== undefined,
  );
  const { annotations: _, ...rest } = metadata;
  return (all.length ? { ...rest, annotations: Object.fromEntries(all) } : rest) as M;
}
