import { StatefulSets } from '@tinkernetes/api';
import type { PodTemplateSpec, StatefulSet, StatefulSetSpec } from '@tinkernetes/api';
import {
  child,
  forbidden,
  invalid,
  isDns1123Label,
  required,
  semanticEqual,
} from '@tinkernetes/apimachinery';
import { statefulSetCells } from '../../../printers/workloads';
import { isTold, templateWarnings } from '../../core/pod/warnings';
import { defaultClaim } from '../../core/persistentvolumeclaim/defaults';
import { validateClaimSpec } from '../../core/persistentvolumeclaim/validate';
import { defineStrategy } from '../../define-strategy';
import { withoutDisabledInTemplate } from '../../pod-spec/disabled-fields';
import { fill, mapList, mapMember } from '../../fill';
import { defaultPodTemplate } from '../../pod-spec/defaults';
import { isWellFormed, validateTemplateLabels, validateWorkloadSelector } from '../../pod-spec/selectors';
import { validatePodTemplate, validateTemplateMetadata } from '../../pod-spec/validate';
import { check, eachOf, notNegative, oneOf } from '../../rules';
import type { Errors } from '../../rules';
import { validateReplicaStatus, withoutReplicas } from '../replica-status';
import { onlyAlways } from '../restart-policy';

function defaultSpec(given: StatefulSetSpec): StatefulSetSpec {
  const spec = fill(mapMember(given, 'template', defaultPodTemplate), {
    serviceName: '',
    podManagementPolicy: 'OrderedReady',
    updateStrategy: {},
    replicas: 1,
    revisionHistoryLimit: 10,
    persistentVolumeClaimRetentionPolicy: {},
  });
  const strategy = spec.updateStrategy ?? {};
  // Who names the type is taken at his word; who doesn't gets the whole default.
  const updateStrategy = strategy.type
    ? strategy
    : { ...strategy, type: 'RollingUpdate' as const, rollingUpdate: strategy.rollingUpdate ?? {} };
  const withClaims = mapMember(spec, 'volumeClaimTemplates', (claims) =>
    mapList(claims, (claim) => ({
      ...defaultClaim(claim),
      kind: 'PersistentVolumeClaim',
      apiVersion: 'v1',
      status: { phase: 'Pending' as const },
    })),
  );
  const retention = fill(withClaims.persistentVolumeClaimRetentionPolicy ?? {}, {
    whenDeleted: 'Retain',
    whenScaled: 'Retain',
  });
  const isRolling = updateStrategy.type === 'RollingUpdate';
  return {
    ...withClaims,
    persistentVolumeClaimRetentionPolicy: retention,
    updateStrategy: isRolling
      ? mapMember(updateStrategy, 'rollingUpdate', (rolling) => fill(rolling, { partition: 0 }))
      : updateStrategy,
  };
}

/** Service and claims can't change later: they are looked at once. */
function validate({ spec }: StatefulSet, isNew: boolean): Errors {
  const given = spec ?? ({} as StatefulSetSpec);
  const { persistentVolumeClaimRetentionPolicy: retention } = given;
  return [
    ...validatePolicies(given),
    ...oneOf('spec.persistentVolumeClaimRetentionPolicy.whenDeleted', retention?.whenDeleted, [
      'Retain',
      'Delete',
    ]),
    ...oneOf('spec.persistentVolumeClaimRetentionPolicy.whenScaled', retention?.whenScaled, [
      'Retain',
      'Delete',
    ]),
    ...(isNew ? validateClaims(given) : []),
    ...notNegative('spec.replicas', given.replicas),
    ...notNegative('spec.minReadySeconds', given.minReadySeconds),
    ...notNegative('spec.ordinals.start', given.ordinals?.start),
    ...(isNew && given.serviceName ? check('spec.serviceName', given.serviceName, isDns1123Label) : []),
    ...validateWorkloadSelector(given.selector, 'statefulset', ''),
    ...(isWellFormed(given.selector)
      ? [...validateTemplate(given), ...onlyAlways(given.template, 'StatefulSet')]
      : []),
  ];
}

/** Upstream looks at the template's metadata twice. Source: apps/validation.ValidatePodTemplateSpecForStatefulSet. */
function validateTemplate(spec: StatefulSetSpec): Errors {
  const path = 'spec.template';
  const { template, selector } = spec;
  if (!template) return [required(path)];
  return [
    ...validateTemplateLabels(template, selector, path),
    // Each Pod's host name is its own.
    ...validatePodTemplate(withClaimVolumes(spec), path).filter(
      ({ field }) => field !== `${path}.spec.hostname` && field !== `${path}.spec.subdomain`,
    ),
    ...validateTemplateMetadata(template, path),
  ];
}

const validateClaims = ({ volumeClaimTemplates }: StatefulSetSpec): Errors =>
  eachOf('spec.volumeClaimTemplates', volumeClaimTemplates, (claim, at) =>
    validateClaimSpec(claim.spec ?? {}, child(at, 'spec')),
  );

function validatePolicies({ podManagementPolicy: management, updateStrategy }: StatefulSetSpec): Errors {
  const errors: Errors = [];
  if (!management) errors.push(required('spec.podManagementPolicy'));
  else if (!['OrderedReady', 'Parallel'].includes(management)) {
    const detail = "must be 'OrderedReady' or 'Parallel'";
    errors.push(invalid('spec.podManagementPolicy', management, detail));
  }
  const type: string | undefined = updateStrategy?.type;
  const rolling = updateStrategy?.rollingUpdate
    ? { Partition: updateStrategy.rollingUpdate.partition ?? 0, MaxUnavailable: null }
    : null;
  if (!type) errors.push(required('spec.updateStrategy'));
  else if (!['RollingUpdate', 'OnDelete'].includes(type)) {
    const shown = { Type: type, RollingUpdate: rolling };
    errors.push(invalid('spec.updateStrategy', shown, "must be 'RollingUpdate' or 'OnDelete'"));
  } else if (rolling && type === 'OnDelete') {
    const detail = "only allowed for updateStrategy 'RollingUpdate'";
    errors.push(invalid('spec.updateStrategy.rollingUpdate', rolling, detail));
  } else {
    const path = 'spec.updateStrategy.rollingUpdate.partition';
    errors.push(...notNegative(path, updateStrategy?.rollingUpdate?.partition));
  }
  return errors;
}

/** Claim templates are volumes of the Pods. */
function withClaimVolumes({ template, volumeClaimTemplates = [] }: StatefulSetSpec): PodTemplateSpec {
  if (volumeClaimTemplates.length === 0 || !template?.spec) return template;
  const own = template.spec.volumes ?? [];
  const claims = volumeClaimTemplates
    .map((claim) => claim.metadata?.name ?? '')
    .filter((name, i, all) => all.indexOf(name) === i)
    .map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  const others = own.filter((volume) => claims.every(({ name }) => name !== volume.name));
  return { ...template, spec: { ...template.spec, volumes: [...claims, ...others] } };
}

const mutable = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
] as const;
const unchangeable =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

function withoutMutable(spec: StatefulSetSpec | undefined): object {
  const names: readonly string[] = mutable;
  return Object.fromEntries(Object.entries(spec ?? {}).filter(([name]) => !names.includes(name)));
}

/** It comes with a feature that is off. */
const withoutMaxUnavailable = (spec: StatefulSetSpec): StatefulSetSpec =>
  mapMember(spec, 'updateStrategy', (strategy) =>
    mapMember(strategy, 'rollingUpdate', ({ maxUnavailable: _, ...rolling }) => rolling),
  );

/** Source: k8s.io/kubernetes/pkg/registry/apps/statefulset. */
export const statefulSetStrategy = defineStrategy(StatefulSets, {
  withoutDisabledFields: withoutDisabledInTemplate,
  default: (set) => mapMember(set, 'spec', defaultSpec),
  nameCheck: isDns1123Label,
  prepareForCreate: (set) => ({
    ...mapMember(set, 'spec', withoutMaxUnavailable),
    status: { replicas: 0, availableReplicas: 0 },
  }),
  prepareForUpdate: (set) => mapMember(set, 'spec', withoutMaxUnavailable),
  validate: (set) => validate(set, true),
  validateUpdate: (set, old) => [
    ...validate(set, false),
    ...(semanticEqual(withoutMutable(set.spec), withoutMutable(old.spec))
      ? []
      : [forbidden('spec', unchangeable)]),
  ],
  validateStatusUpdate: (set) =>
    validateReplicaStatus(
      set.status ?? { replicas: 0 },
      ['replicas', 'readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
      { readyName: 'status.readyReplicas' },
    ),
  warnings: (set, old) => [
    ...(isTold(set, old) ? templateWarnings(set.spec?.template, 'spec.template') : []),
    ...((set.spec?.revisionHistoryLimit ?? 0) < 0
      ? [
          'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended',
        ]
      : []),
  ],
  tableCells: statefulSetCells,
  unset: withoutReplicas,
});
