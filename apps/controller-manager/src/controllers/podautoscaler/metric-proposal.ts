import type {
  HorizontalPodAutoscaler,
  MetricIdentifier,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  Pod,
} from '@tinkernetes/api';
import { Quantity } from '@tinkernetes/apimachinery';
import type { MetricsClient } from './metrics-client';
import type { ReadinessRules } from './pod-groups';
import {
  averageReplicas,
  sharedValueReplicas,
  utilizationReplicas,
  valueReplicas,
  type Proposal,
  type Tolerances,
} from './replica-calculator';

/** Why a metric gave no replica count: reason and message of the condition and of the event. */
export class MetricError extends Error {
  override readonly name = 'MetricError';
  constructor(
    readonly reason: string,
    /** Inner message, as the event has it. */
    readonly detail: string,
    message: string,
    cause: unknown,
  ) {
    super(message, { cause });
  }
}

export interface MetricProposal {
  replicas: number;
  /** `cpu resource utilization (percentage of request)` */
  name: string;
  status: MetricStatus;
}

export interface MetricContext {
  metrics: MetricsClient;
  autoscaler: HorizontalPodAutoscaler;
  /** Those that the target's selector chooses. */
  pods: readonly Pod[];
  selector: string;
  specReplicas: number;
  statusReplicas: number;
  tolerances: Tolerances;
  rules: ReadinessRules;
}

const milli = (quantity: string | number): number => Quantity.parse(quantity).milliValue();
const quantity = (value: number, resource = ''): string =>
  Quantity.ofMilli(value, resource === 'memory' ? 'BinarySI' : 'DecimalSI').toString();

/** Runs one source; what goes wrong in it becomes a MetricError with the source's reason. */
async function named<T>(reason: string, outer: readonly string[], work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new MetricError(reason, detail, [...outer, detail].join(': '), error);
  }
}

const wrapped = async <T>(prefix: string, work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    throw new Error(`${prefix}: ${(error as Error).message}`, { cause: error });
  }
};

/** What one metric of an autoscaler recommends. Source: pkg/controller/podautoscaler/horizontal.go computeReplicasForMetric. */
export function proposeByMetric(spec: MetricSpec, context: MetricContext): Promise<MetricProposal> {
  const { resource, containerResource, pods, object, external } = spec;
  if (spec.type === 'Resource' && resource) {
    const { name, target } = resource;
    return named('FailedGetResourceMetric', [`failed to get ${name} resource metric value`], async () => {
      const proposal = await ofResource(context, name, target);
      const status: MetricStatus = { type: spec.type, resource: { name, current: proposal.current } };
      return { ...proposal, status };
    });
  }
  if (spec.type === 'ContainerResource' && containerResource) {
    const { name, target, container } = containerResource;
    const outer = `failed to get ${container} container metric value`;
    return named('FailedGetContainerResourceMetric', [outer], async () => {
      const proposal = await ofResource(context, name, target, container);
      const status: MetricStatus = {
        type: spec.type,
        containerResource: { name, container, current: proposal.current },
      };
      return { ...proposal, status };
    });
  }
  if (spec.type === 'Pods' && pods)
    return named('FailedGetPodsMetric', ['failed to get pods metric value'], () => ofPods(context, pods));
  if (spec.type === 'Object' && object) {
    const { name } = object.metric;
    const outer = ['failed to get object metric value'];
    if (isShared(object.target)) outer.push(`failed to get ${name} object metric`);
    return named('FailedGetObjectMetric', outer, () => ofObject(context, object));
  }
  if (spec.type === 'External' && external) {
    const { name } = external.metric;
    const outer = [
      `failed to get ${name} external metric value`,
      external.target.averageValue === undefined
        ? `failed to get external metric ${name}`
        : `failed to get ${name} external metric`,
    ];
    return named('FailedGetExternalMetric', outer, () => ofExternal(context, external));
  }
  const message = `unknown metric source type "${spec.type}"`;
  return Promise.reject(new MetricError('InvalidMetricSourceType', message, message, undefined));
}

async function ofResource(
  context: MetricContext,
  resource: string,
  target: MetricTarget,
  container?: string,
): Promise<{ replicas: number; name: string; current: MetricStatusCurrent }> {
  const { averageValue, averageUtilization: percent } = target;
  if (averageValue === undefined && percent === undefined)
    throw new Error(
      'invalid resource metric source: neither an average utilization target nor an average value (usage) target was set',
    );
  const kind = averageValue === undefined ? 'utilization' : 'usage';
  const samples = await wrapped(
    `failed to get ${resource} ${kind}: unable to get metrics for resource ${resource}`,
    context.metrics.resource(resource, {
      namespace: context.autoscaler.metadata.namespace ?? '',
      selector: context.selector,
      container,
    }),
  );
  const base = { ...podTarget(context), samples, resource };
  const compute = (): Proposal =>
    percent !== undefined && averageValue === undefined
      ? utilizationReplicas({ ...base, container, percent })
      : averageReplicas({ ...base, average: milli(averageValue ?? '0') });
  const { replicas, value, utilization } = await wrapped(
    `failed to get ${resource} ${kind}`,
    Promise.resolve().then(compute),
  );
  const source = container === undefined ? 'resource' : 'container resource';
  return {
    replicas,
    name:
      averageValue === undefined
        ? `${resource} ${source} utilization (percentage of request)`
        : `${resource} resource`,
    current: {
      ...(utilization === undefined ? {} : { averageUtilization: utilization }),
      averageValue: quantity(value, resource),
    },
  };
}

type MetricStatusCurrent = NonNullable<MetricStatus['resource']>['current'];

const isShared = (target: MetricTarget): boolean =>
  target.type === 'AverageValue' && target.averageValue !== undefined;

const podTarget = ({ pods, specReplicas, tolerances, rules }: MetricContext) => ({
  pods,
  currentReplicas: specReplicas,
  tolerances,
  rules,
});

const identifier = ({ name, selector }: MetricIdentifier): MetricIdentifier => ({
  name,
  ...(selector ? { selector } : {}),
});

async function ofPods(
  context: MetricContext,
  { metric, target }: NonNullable<MetricSpec['pods']>,
): Promise<MetricProposal> {
  const namespace = context.autoscaler.metadata.namespace ?? '';
  const samples = await wrapped(
    `unable to get metric ${metric.name}`,
    context.metrics.pods(metric, { namespace, selector: context.selector }),
  );
  const { replicas, value } = averageReplicas({
    ...podTarget(context),
    samples,
    average: milli(target.averageValue ?? '0'),
  });
  return {
    replicas,
    name: `pods metric ${metric.name}`,
    status: {
      type: 'Pods',
      pods: { metric: identifier(metric), current: { averageValue: quantity(value) } },
    },
  };
}

async function ofObject(
  context: MetricContext,
  { metric, target, describedObject }: NonNullable<MetricSpec['object']>,
): Promise<MetricProposal> {
  const namespace = context.autoscaler.metadata.namespace ?? '';
  const shared = isShared(target);
  if (!shared && (target.type !== 'Value' || target.value === undefined))
    throw new Error(
      'invalid object metric source: neither a value target nor an average value target was set',
    );
  const value = await wrapped(
    `unable to get metric ${metric.name} on ${describedObject.kind} ${namespace}/${describedObject.name}`,
    context.metrics.object(metric, describedObject, namespace),
  );
  const proposal = byValue(context, target, value);
  return {
    replicas: proposal.replicas,
    name: shared ? externalName(metric) : `${describedObject.kind} metric ${metric.name}`,
    status: {
      type: 'Object',
      object: { describedObject, metric: identifier(metric), current: proposal.current },
    },
  };
}

async function ofExternal(
  context: MetricContext,
  { metric, target }: NonNullable<MetricSpec['external']>,
): Promise<MetricProposal> {
  const namespace = context.autoscaler.metadata.namespace ?? '';
  if (target.averageValue === undefined && target.value === undefined)
    throw new Error(
      'invalid external metric source: neither a value target nor an average value target was set',
    );
  const values = await wrapped(
    `unable to get external metric ${namespace}/${metric.name}/${goSelector(metric)}`,
    context.metrics.external(metric, namespace),
  );
  const proposal = byValue(
    context,
    target,
    values.reduce((sum, value) => sum + value, 0),
  );
  return {
    replicas: proposal.replicas,
    name: externalName(metric),
    status: { type: 'External', external: { metric: identifier(metric), current: proposal.current } },
  };
}

function byValue(
  { pods, specReplicas, statusReplicas, tolerances }: MetricContext,
  target: MetricTarget,
  value: number,
): { replicas: number; current: MetricStatusCurrent } {
  if (target.averageValue !== undefined) {
    const average = milli(target.averageValue);
    const proposal = sharedValueReplicas({ value, average, statusReplicas, tolerances });
    return { replicas: proposal.replicas, current: { averageValue: quantity(proposal.value) } };
  }
  const wanted = milli(target.value ?? '0');
  const options = { value, target: wanted, pods, currentReplicas: specReplicas, tolerances };
  return { replicas: valueReplicas(options).replicas, current: { value: quantity(value) } };
}

const externalName = (metric: MetricIdentifier): string =>
  `external metric ${metric.name}(${goSelector(metric)})`;

/** A selector as Go prints a pointer to it. */
function goSelector({ selector }: MetricIdentifier): string {
  if (!selector) return 'nil';
  const labels = Object.entries(selector.matchLabels ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${value},`)
    .join('');
  const requirements = (selector.matchExpressions ?? [])
    .map(({ key, operator, values }) => `{${key} ${operator} [${(values ?? []).join(' ')}]}`)
    .join(' ');
  return `&LabelSelector{MatchLabels:map[string]string{${labels}},MatchExpressions:[]LabelSelectorRequirement{${requirements}},}`;
}
