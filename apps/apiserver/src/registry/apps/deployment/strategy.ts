import { Deployments } from '@tinkernetes/api';
import type { Deployment, DeploymentSpec } from '@tinkernetes/api';
import { forbidden, invalid, notSupported, semanticEqual } from '@tinkernetes/apimachinery';
import { deploymentCells } from '../../../printers/workloads';
import { isTold, podNameWarnings, templateWarnings } from '../../core/pod/warnings';
import { defineStrategy } from '../../define-strategy';
import { withoutDisabledInTemplate } from '../../pod-spec/disabled-fields';
import { fill, mapMember } from '../../fill';
import { immutable } from '../../immutable';
import { defaultPodTemplate } from '../../pod-spec/defaults';
import { isWellFormed, validateSelectedTemplate, validateWorkloadSelector } from '../../pod-spec/selectors';
import { intOrPercentValue, notMoreThanAll, positiveIntOrPercent } from '../../rollout';
import { notNegative } from '../../rules';
import type { Errors } from '../../rules';
import { onlyAlways } from '../restart-policy';
import { validateReplicaStatus, withoutReplicas } from '../replica-status';

function defaultSpec(given: DeploymentSpec): DeploymentSpec {
  const spec = fill(mapMember(given, 'template', defaultPodTemplate), {
    replicas: 1,
    strategy: {},
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
  });
  const strategy = fill(spec.strategy ?? {}, { type: 'RollingUpdate' });
  if (strategy.type !== 'RollingUpdate') return { ...spec, strategy };
  const rollingUpdate = fill(strategy.rollingUpdate ?? {}, { maxUnavailable: '25%', maxSurge: '25%' });
  return { ...spec, strategy: { ...strategy, rollingUpdate } };
}

function rolloutType(strategy: DeploymentSpec['strategy']): Errors {
  const type: string | undefined = strategy?.type;
  if (type === 'Recreate' || type === 'RollingUpdate') return [];
  const { maxUnavailable, maxSurge } = strategy?.rollingUpdate ?? {};
  const rolling = strategy?.rollingUpdate
    ? { MaxUnavailable: maxUnavailable ?? 0, MaxSurge: maxSurge ?? 0 }
    : null;
  return [
    notSupported('spec.strategy', { Type: type ?? '', RollingUpdate: rolling }, [
      'Recreate',
      'RollingUpdate',
    ]),
  ];
}

function validateRollout({ strategy }: DeploymentSpec): Errors {
  const path = 'spec.strategy';
  const errors = rolloutType(strategy);
  const rolling = strategy?.rollingUpdate;
  if (strategy?.type === 'Recreate') {
    return rolling
      ? [
          ...errors,
          forbidden(`${path}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'"),
        ]
      : errors;
  }
  if (!rolling) return errors;
  const unavailable = `${path}.rollingUpdate.maxUnavailable`;
  errors.push(
    ...positiveIntOrPercent(unavailable, rolling.maxUnavailable),
    ...positiveIntOrPercent(`${path}.rollingUpdate.maxSurge`, rolling.maxSurge),
  );
  if (intOrPercentValue(rolling.maxUnavailable) === 0 && intOrPercentValue(rolling.maxSurge) === 0) {
    errors.push(invalid(unavailable, rolling.maxUnavailable, 'may not be 0 when `maxSurge` is 0'));
  }
  return [...errors, ...notMoreThanAll(unavailable, rolling.maxUnavailable)];
}

function validate({ spec }: Deployment): Errors {
  const given = spec ?? ({} as DeploymentSpec);
  const errors = [
    ...notNegative('spec.replicas', given.replicas),
    ...validateWorkloadSelector(given.selector, 'deployment', 'invalid label selector'),
    ...(isWellFormed(given.selector)
      ? [...validateSelectedTemplate(given.template, given.selector), ...onlyAlways(given.template)]
      : []),
    ...validateRollout(given),
    ...notNegative('spec.minReadySeconds', given.minReadySeconds),
    ...notNegative('spec.revisionHistoryLimit', given.revisionHistoryLimit),
  ];
  const deadline = given.progressDeadlineSeconds;
  if (deadline !== undefined) {
    errors.push(...notNegative('spec.progressDeadlineSeconds', deadline));
    if (deadline <= (given.minReadySeconds ?? 0)) {
      errors.push(invalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds'));
    }
  }
  return errors;
}

/** Source: k8s.io/kubernetes/pkg/registry/apps/deployment. */
export const deploymentStrategy = defineStrategy(Deployments, {
  withoutDisabledFields: withoutDisabledInTemplate,
  default: (deployment) => mapMember(deployment, 'spec', defaultSpec),
  validate,
  validateUpdate: (deployment, old) => [
    ...validate(deployment),
    ...immutable('spec.selector', deployment.spec?.selector, old.spec?.selector),
  ],
  // Controllers look at annotations, too (the revision to roll back to was one).
  changesGeneration: (deployment, old) =>
    !semanticEqual(deployment.spec, old.spec) ||
    !semanticEqual(deployment.metadata.annotations, old.metadata.annotations),
  keptByStatus: 'labels',
  validateStatusUpdate: (deployment) =>
    validateReplicaStatus(
      deployment.status ?? {},
      ['replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas', 'unavailableReplicas'],
      { isGenerationFirst: true },
    ),
  warnings: (deployment, old) => [
    ...(old ? [] : podNameWarnings(deployment)),
    ...(isTold(deployment, old) ? templateWarnings(deployment.spec?.template, 'spec.template') : []),
  ],
  tableCells: deploymentCells,
  unset: withoutReplicas,
});
