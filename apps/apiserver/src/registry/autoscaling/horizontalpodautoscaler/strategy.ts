import { HorizontalPodAutoscalers } from '@tinkernetes/api';
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerSpec,
  HPAScalingPolicy,
  HPAScalingRules,
  MetricSpec,
} from '@tinkernetes/api';
import {
  child,
  invalid,
  notNegativeMessage,
  notSupported,
  Quantity,
  required,
} from '@tinkernetes/apimachinery';
import { age } from '../../../printers/cells';
import { autoscalerTargets } from '../../../printers/autoscalers';
import { defineStrategy } from '../../define-strategy';
import { convertAutoscaler } from '../../generic/convert-autoscaler';
import { fill, mapMember } from '../../fill';
import { eachOf, oneOf, notNegative } from '../../rules';
import type { Errors } from '../../rules';
import { validateMetricSpec, validateReference } from './validate-metrics';

const defaultCpu: MetricSpec = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
};
const scaleUp: HPAScalingRules = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
};
const scaleDown: HPAScalingRules = {
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
};

/** Source: pkg/apis/autoscaling/v2.SetDefaults_HorizontalPodAutoscaler. */
function defaultSpec(given: HorizontalPodAutoscalerSpec): HorizontalPodAutoscalerSpec {
  const spec = mapMember(given, 'behavior', (behavior) => ({
    ...behavior,
    scaleUp: fill(behavior.scaleUp ?? {}, scaleUp),
    scaleDown: fill(behavior.scaleDown ?? {}, scaleDown),
  }));
  return fill(spec.metrics?.length ? spec : { ...spec, metrics: [defaultCpu] }, { minReplicas: 1 });
}

function validate({ spec }: HorizontalPodAutoscaler): Errors {
  const errors: Errors = [];
  const { minReplicas, maxReplicas = 0, scaleTargetRef, metrics } = spec ?? {};
  if (minReplicas !== undefined && minReplicas < 1) {
    errors.push(invalid('spec.minReplicas', minReplicas, 'must be greater than or equal to 1'));
  }
  if (maxReplicas === 0) errors.push(required('spec.maxReplicas', 'must be set and greater than 0'));
  else if (maxReplicas < 0)
    errors.push(invalid('spec.maxReplicas', maxReplicas, 'must be greater than or equal to 1'));
  if (minReplicas !== undefined && maxReplicas < minReplicas) {
    errors.push(invalid('spec.maxReplicas', maxReplicas, 'must be greater than or equal to `minReplicas`'));
  }
  return [
    ...errors,
    ...validateReference(scaleTargetRef, 'spec.scaleTargetRef', { needsGroup: true }),
    ...eachOf('spec.metrics', metrics, validateMetricSpec),
    ...validateRules(spec?.behavior?.scaleUp, 'spec.behavior.scaleUp'),
    ...validateRules(spec?.behavior?.scaleDown, 'spec.behavior.scaleDown'),
  ];
}

const longestWindow = 3600;
const longestPeriod = 1800;

/** Source: autoscaling/validation.validateScalingRules. */
function validateRules(rules: HPAScalingRules | undefined, path: string): Errors {
  if (!rules) return [];
  const errors: Errors = [];
  const { stabilizationWindowSeconds: window, selectPolicy, policies = [], tolerance } = rules;
  const at = child(path, 'stabilizationWindowSeconds');
  if (window !== undefined && window < 0)
    errors.push(invalid(at, window, 'must be greater than or equal to zero'));
  if (window !== undefined && window > longestWindow)
    errors.push(invalid(at, window, `must be less than or equal to ${longestWindow}`));
  errors.push(...oneOf(child(path, 'selectPolicy'), selectPolicy, ['Disabled', 'Max', 'Min']));
  if (policies.length === 0)
    errors.push(required(child(path, 'policies'), 'must specify at least one Policy'));
  errors.push(...eachOf(child(path, 'policies'), policies, validatePolicy));
  const share = Quantity.tryParse(tolerance);
  if (share && share.sign < 0)
    errors.push(invalid(child(path, 'tolerance'), share.toString(), notNegativeMessage));
  return errors;
}

function validatePolicy({ type, value, periodSeconds }: HPAScalingPolicy, path: string): Errors {
  const at = child(path, 'periodSeconds');
  return [
    ...(['Pods', 'Percent'].includes(type)
      ? []
      : [notSupported(child(path, 'type'), type ?? '', ['Percent', 'Pods'])]),
    ...(value > 0 ? [] : [invalid(child(path, 'value'), value, 'must be greater than zero')]),
    ...(periodSeconds > 0 ? [] : [invalid(at, periodSeconds, 'must be greater than zero')]),
    ...(periodSeconds > longestPeriod
      ? [invalid(at, periodSeconds, `must be less than or equal to ${longestPeriod}`)]
      : []),
  ];
}

/** Source: k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler. */
export const horizontalPodAutoscalerStrategy = defineStrategy(HorizontalPodAutoscalers, {
  hasGeneration: false,
  default: (autoscaler) =>
    autoscaler.apiVersion === 'autoscaling/v1' ? autoscaler : mapMember(autoscaler, 'spec', defaultSpec),
  validateStatusUpdate: ({ status }) => [
    ...notNegative('status.currentReplicas', status?.currentReplicas),
    ...notNegative('status.desiredReplicas', status?.desiredReplicas),
  ],
  validate,
  tableCells: (autoscaler, now) => {
    const { spec, status, metadata } = convertAutoscaler(
      autoscaler,
      'autoscaling/v2',
    ) as HorizontalPodAutoscaler;
    return [
      metadata.name,
      `${spec?.scaleTargetRef?.kind ?? ''}/${spec?.scaleTargetRef?.name ?? ''}`,
      autoscalerTargets({ spec, status }),
      String(spec?.minReplicas ?? '<unset>'),
      spec?.maxReplicas ?? 0,
      status?.currentReplicas ?? 0,
      age(autoscaler, now),
    ];
  },
});
