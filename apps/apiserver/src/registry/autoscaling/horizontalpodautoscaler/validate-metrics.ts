import type {
  ContainerResourceMetricSource,
  CrossVersionObjectReference,
  ExternalMetricSource,
  MetricIdentifier,
  MetricSpec,
  MetricTarget,
  ObjectMetricSource,
  PodsMetricSource,
  ResourceMetricSource,
} from '@tinkernetes/api';
import {
  child,
  forbidden,
  invalid,
  isDns1123Label,
  isDns1123Subdomain,
  isPathSegmentName,
  notSupported,
  Quantity,
  required,
} from '@tinkernetes/apimachinery';
import { validateContainerResourceName } from '../../pod-spec/resources';
import { check, requireName } from '../../rules';
import type { Errors } from '../../rules';

const sourceTypes = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'];
const targetTypes = ['Utilization', 'Value', 'AverageValue'];

/** `needsGroup`: what is scaled is of a group of its own; what is only looked at may be of the core group. */
export function validateReference(
  reference: CrossVersionObjectReference | undefined,
  path: string,
  { needsGroup }: { needsGroup: boolean },
): Errors {
  const { kind, name, apiVersion = '' } = reference ?? { kind: '', name: '' };
  const errors = [
    ...requireName(child(path, 'kind'), kind, isPathSegmentName),
    ...requireName(child(path, 'name'), name, isPathSegmentName),
  ];
  const problem = apiVersionProblem(apiVersion, needsGroup);
  return problem === undefined
    ? errors
    : [...errors, invalid(child(path, 'apiVersion'), apiVersion, problem)];
}

function apiVersionProblem(apiVersion: string, needsGroup: boolean): string | undefined {
  const parts = apiVersion.split('/');
  if (parts.length > 2) return `unexpected GroupVersion string: ${apiVersion}`;
  if (parts.length < 2) return needsGroup ? 'apiVersion must specify API group' : undefined;
  const [problem] = isDns1123Subdomain(parts[0] ?? '');
  return problem === undefined ? undefined : `apiVersion: ${problem}`;
}

type SourceName = 'object' | 'external' | 'pods' | 'resource' | 'containerResource';

/** Each source's rule, in the order in which upstream looks at them; only the first that is there is looked into. */
const sourceRules: { [K in SourceName]: (source: NonNullable<MetricSpec[K]>, path: string) => Errors } = {
  object: (source: ObjectMetricSource, path) => [
    ...validateReference(source.describedObject, child(path, 'describedObject'), { needsGroup: false }),
    ...validateMetric(source.metric, child(path, 'metric')),
    ...validateTarget(source.target, child(path, 'target')),
    ...needsValue(source.target, path, 'must set either a target value or averageValue'),
  ],
  external: (source: ExternalMetricSource, path) => [
    ...validateMetric(source.metric, child(path, 'metric')),
    ...validateTarget(source.target, child(path, 'target')),
    ...needsValue(source.target, path, 'must set either a target value for metric or a per-pod target'),
    ...(source.target?.value !== undefined && source.target.averageValue !== undefined
      ? [
          forbidden(
            child(path, 'target', 'value'),
            'may not set both a target value for metric and a per-pod target',
          ),
        ]
      : []),
  ],
  pods: (source: PodsMetricSource, path) => [
    ...validateMetric(source.metric, child(path, 'metric')),
    ...validateTarget(source.target, child(path, 'target')),
    ...(source.target?.averageValue === undefined
      ? [required(child(path, 'target', 'averageValue'), 'must specify a positive target averageValue')]
      : []),
  ],
  resource: (source: ResourceMetricSource, path) => [
    ...(source.name ? [] : [required(child(path, 'name'), 'must specify a resource name')]),
    ...validateTarget(source.target, child(path, 'target')),
    ...oneTarget(source.target, child(path, 'target')),
  ],
  containerResource: (source: ContainerResourceMetricSource, path) => [
    ...(source.name
      ? validateContainerResourceName(child(path, 'name'), source.name)
      : [required(child(path, 'name'), 'must specify a resource name')]),
    ...(source.container
      ? check(child(path, 'container'), source.container, isDns1123Label)
      : [required(child(path, 'container'), 'must specify a container')]),
    ...validateTarget(source.target, child(path, 'target')),
    ...oneTarget(source.target, child(path, 'target')),
  ],
};

/** Source: autoscaling/validation.validateMetricSpec. */
export function validateMetricSpec(metric: MetricSpec, path: string): Errors {
  const type: string = metric.type ?? '';
  const typePath = child(path, 'type');
  const errors: Errors = [];
  const isKnown = sourceTypes.includes(type);
  if (type === '') errors.push(required(typePath, 'must specify a metric source type'));
  if (!isKnown) errors.push(notSupported(typePath, type, sourceTypes));
  const present = (Object.keys(sourceRules) as SourceName[]).filter((name) => metric[name] !== undefined);
  const [first] = present;
  if (first) {
    const rule = sourceRules[first] as (source: unknown, path: string) => Errors;
    errors.push(...rule(metric[first], child(path, first)));
  }
  const expected = isKnown ? ((type.charAt(0).toLowerCase() + type.slice(1)) as SourceName) : undefined;
  if (expected && metric[expected] === undefined)
    errors.push(required(child(path, expected), 'must populate information for the given metric source'));
  // Upstream says it a second time where it asks which source the type stands for.
  if (!isKnown) errors.push(notSupported(typePath, type, sourceTypes));
  if (present.length !== 1) {
    const others = present.filter((name) => name !== expected);
    errors.push(
      ...others.map((name) => forbidden(child(path, name), 'must populate the given metric source only')),
    );
  }
  return errors;
}

function validateMetric(metric: MetricIdentifier | undefined, path: string): Errors {
  const at = child(path, 'name');
  return metric?.name
    ? check(at, metric.name, isPathSegmentName)
    : [required(at, 'must specify a metric name')];
}

function validateTarget(target: MetricTarget | undefined, path: string): Errors {
  const type: string = target?.type ?? '';
  const typePath = child(path, 'type');
  const errors: Errors = [];
  if (type === '') errors.push(required(typePath, 'must specify a metric target type'));
  if (!targetTypes.includes(type))
    errors.push(invalid(typePath, type, 'must be either Utilization, Value, or AverageValue'));
  for (const name of ['value', 'averageValue'] as const) {
    const quantity = Quantity.tryParse(target?.[name]);
    if (quantity && quantity.sign <= 0)
      errors.push(invalid(child(path, name), quantity.toString(), 'must be positive'));
  }
  const utilization = target?.averageUtilization;
  if (utilization !== undefined && utilization < 1)
    errors.push(invalid(child(path, 'averageUtilization'), utilization, 'must be greater than 0'));
  return errors;
}

const needsValue = (target: MetricTarget | undefined, path: string, detail: string): Errors =>
  target?.value === undefined && target?.averageValue === undefined
    ? [required(child(path, 'target', 'averageValue'), detail)]
    : [];

function oneTarget(target: MetricTarget | undefined, path: string): Errors {
  const hasUtilization = target?.averageUtilization !== undefined;
  const hasValue = target?.averageValue !== undefined;
  if (!hasUtilization && !hasValue) {
    const detail = 'must set either a target raw value or a target utilization';
    return [required(child(path, 'averageUtilization'), detail)];
  }
  return hasUtilization && hasValue
    ? [forbidden(child(path, 'averageValue'), 'may not set both a target raw value and a target utilization')]
    : [];
}
