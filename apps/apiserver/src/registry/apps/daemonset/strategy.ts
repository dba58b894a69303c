import { DaemonSets } from '@tinkernetes/api';
import type { DaemonSet, DaemonSetSpec } from '@tinkernetes/api';
import { invalid, notSupported, required, semanticEqual } from '@tinkernetes/apimachinery';
import { daemonSetCells } from '../../../printers/workloads';
import { isTold, templateWarnings } from '../../core/pod/warnings';
import { defineStrategy } from '../../define-strategy';
import { withoutDisabledInTemplate } from '../../pod-spec/disabled-fields';
import { fill, mapMember } from '../../fill';
import { immutable } from '../../immutable';
import { defaultPodTemplate } from '../../pod-spec/defaults';
import { validateSelectedTemplate, validateWorkloadSelector } from '../../pod-spec/selectors';
import { intOrPercentValue, notMoreThanAll, positiveIntOrPercent } from '../../rollout';
import { notNegative } from '../../rules';
import type { Errors } from '../../rules';
import { onlyAlways } from '../restart-policy';

function defaultSpec(given: DaemonSetSpec): DaemonSetSpec {
  const spec = fill(mapMember(given, 'template', defaultPodTemplate), {
    updateStrategy: {},
    revisionHistoryLimit: 10,
  });
  const updateStrategy = fill(spec.updateStrategy ?? {}, { type: 'RollingUpdate' });
  if (updateStrategy.type !== 'RollingUpdate') return { ...spec, updateStrategy };
  const rollingUpdate = fill(updateStrategy.rollingUpdate ?? {}, { maxUnavailable: 1, maxSurge: 0 });
  return { ...spec, updateStrategy: { ...updateStrategy, rollingUpdate } };
}

const generationAnnotation = 'deprecated.daemonset.template.generation';

/** The template's generation lives on in an annotation, where the field of an older API version went. */
function withTemplateGeneration(set: DaemonSet, generation: number): DaemonSet {
  const annotations = { ...set.metadata.annotations, [generationAnnotation]: String(generation) };
  return { ...set, metadata: { ...set.metadata, annotations } };
}
const templateGeneration = (set: DaemonSet): number =>
  Number(set.metadata.annotations?.[generationAnnotation] ?? 0);

function rolloutType(strategy: DaemonSetSpec['updateStrategy']): Errors {
  const type: string | undefined = strategy?.type;
  if (type === 'RollingUpdate' || type === 'OnDelete') return [];
  const { maxUnavailable, maxSurge } = strategy?.rollingUpdate ?? {};
  const rolling = strategy?.rollingUpdate
    ? { MaxUnavailable: maxUnavailable ?? 0, MaxSurge: maxSurge ?? 0 }
    : null;
  const shown = { Type: type ?? '', RollingUpdate: rolling };
  return [notSupported('spec.updateStrategy', shown, ['RollingUpdate', 'OnDelete'])];
}

function validateRollout({ updateStrategy }: DaemonSetSpec): Errors {
  const path = 'spec.updateStrategy';
  const errors = rolloutType(updateStrategy);
  if (updateStrategy?.type !== 'RollingUpdate') return errors;
  const rolling = updateStrategy.rollingUpdate;
  if (!rolling) return [...errors, required(`${path}.rollingUpdate`)];
  const [unavailable, surge] = [`${path}.rollingUpdate.maxUnavailable`, `${path}.rollingUpdate.maxSurge`];
  const hasUnavailable = intOrPercentValue(rolling.maxUnavailable) !== 0;
  const hasSurge = intOrPercentValue(rolling.maxSurge) !== 0;
  errors.push(
    ...positiveIntOrPercent(unavailable, rolling.maxUnavailable),
    ...notMoreThanAll(unavailable, rolling.maxUnavailable),
    ...positiveIntOrPercent(surge, rolling.maxSurge),
    ...notMoreThanAll(surge, rolling.maxSurge),
  );
  if (hasUnavailable && hasSurge) {
    errors.push(invalid(surge, rolling.maxSurge, 'may not be set when maxUnavailable is non-zero'));
  }
  if (!hasUnavailable && !hasSurge) {
    errors.push(required(unavailable, 'cannot be 0 when maxSurge is 0'));
  }
  return errors;
}

function validate({ spec }: DaemonSet): Errors {
  const given = spec ?? ({} as DaemonSetSpec);
  return [
    ...(given.selector ? validateWorkloadSelector(given.selector, 'daemonset') : []),
    ...validateSelectedTemplate(given.template, given.selector),
    ...onlyAlways(given.template, 'DaemonSet'),
    ...notNegative('spec.minReadySeconds', given.minReadySeconds),
    ...validateRollout(given),
    ...notNegative('spec.revisionHistoryLimit', given.revisionHistoryLimit),
  ];
}

const counters = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
  'collisionCount',
] as const;

/** Source: k8s.io/kubernetes/pkg/registry/apps/daemonset. */
export const daemonSetStrategy = defineStrategy(DaemonSets, {
  withoutDisabledFields: withoutDisabledInTemplate,
  default: (set) => {
    const defaulted = mapMember(set, 'spec', defaultSpec);
    const isKnown = set.metadata.annotations?.[generationAnnotation] !== undefined;
    return isKnown ? defaulted : withTemplateGeneration(defaulted, 0);
  },
  prepareForCreate: (set) => ({
    ...withTemplateGeneration(set, Math.max(1, templateGeneration(set))),
    status: { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 },
  }),
  prepareForUpdate: (set, old) => {
    const isChanged = !semanticEqual(set.spec?.template, old.spec?.template);
    return withTemplateGeneration(set, templateGeneration(old) + (isChanged ? 1 : 0));
  },
  validate,
  validateUpdate: (set, old) => [
    ...immutable('spec.selector', set.spec?.selector, old.spec?.selector),
    ...validate(set),
  ],
  validateStatusUpdate: ({ status }) =>
    counters.flatMap((name) => notNegative(`status.${name}`, status?.[name])),
  warnings: (set, old) => (isTold(set, old) ? templateWarnings(set.spec?.template, 'spec.template') : []),
  tableCells: daemonSetCells,
  unset: (set) => withTemplateGeneration(set, 0),
  rowMetadata: ({ metadata }) => {
    const { [generationAnnotation]: _generation, ...annotations } = metadata.annotations ?? {};
    return { ...metadata, annotations: Object.keys(annotations).length > 0 ? annotations : undefined };
  },
});
