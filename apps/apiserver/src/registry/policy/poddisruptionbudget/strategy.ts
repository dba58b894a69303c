import { PodDisruptionBudgets } from '@tinkernetes/api';
import type { PodDisruptionBudget } from '@tinkernetes/api';
import { invalid, isPathSegmentName } from '@tinkernetes/apimachinery';
import { age } from '../../../printers/cells';
import { defineStrategy } from '../../define-strategy';
import { validateLabelSelector } from '../../pod-spec/label-selectors';
import { notMoreThanAll, positiveIntOrPercent } from '../../rollout';
import { notNegative, oneOf } from '../../rules';
import type { Errors } from '../../rules';

function validate({ spec }: PodDisruptionBudget): Errors {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy } = spec ?? {};
  const errors: Errors = [];
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    const shown = {
      MinAvailable: minAvailable,
      Selector: selector ?? null,
      MaxUnavailable: maxUnavailable,
      UnhealthyPodEvictionPolicy: unhealthyPodEvictionPolicy ?? null,
    };
    errors.push(invalid('spec', shown, 'minAvailable and maxUnavailable cannot be both set'));
  }
  return [
    ...errors,
    ...positiveIntOrPercent('spec.minAvailable', minAvailable),
    ...notMoreThanAll('spec.minAvailable', minAvailable),
    ...positiveIntOrPercent('spec.maxUnavailable', maxUnavailable),
    ...notMoreThanAll('spec.maxUnavailable', maxUnavailable),
    ...validateLabelSelector(selector, 'spec.selector'),
    ...oneOf('spec.unhealthyPodEvictionPolicy', unhealthyPodEvictionPolicy, [
      'AlwaysAllow',
      'IfHealthyBudget',
    ]),
  ];
}

/** Source: k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget. */
export const podDisruptionBudgetStrategy = defineStrategy(PodDisruptionBudgets, {
  allowUnconditionalUpdate: false,
  nameCheck: isPathSegmentName,
  prepareForCreate: (budget) => ({
    ...budget,
    status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
  }),
  validate,
  validateStatusUpdate: ({ status }) => [
    ...notNegative('status.disruptionsAllowed', status?.disruptionsAllowed),
    ...notNegative('status.currentHealthy', status?.currentHealthy),
    ...notNegative('status.desiredHealthy', status?.desiredHealthy),
    ...notNegative('status.expectedPods', status?.expectedPods),
  ],
  tableCells: (budget, now) => [
    budget.metadata.name,
    String(budget.spec?.minAvailable ?? 'N/A'),
    String(budget.spec?.maxUnavailable ?? 'N/A'),
    budget.status?.disruptionsAllowed ?? 0,
    age(budget, now),
  ],
});
