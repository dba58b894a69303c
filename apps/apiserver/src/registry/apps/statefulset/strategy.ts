import { StatefulSets } from '@tinkernetes/api';
import type { StatefulSet, StatefulSetSpec } from '@tinkernetes/api';
import {
  child,
  forbidden,
  invalid,
  isDns1123Label,
  required,
  semanticEqual,
} from '@tinkernetes/apimachinery';
import { statefulSetCells } from '../../../printers/workloads';
import { isTold, podSpecWarnings } from '../../core/pod/warnings';
import { defaultClaim } from '../../core/persistentvolumeclaim/defaults';
import { validateClaimSpec } from '../../core/persistentvolumeclaim/validate';
import { defineStrategy } from '../../define-strategy';
import { fill, mapList, mapMember } from '../../fill';
import { defaultPodTemplate } from '../../pod-spec/defaults';
import { validateSelectedTemplate, validateWorkloadSelector } from '../../pod-spec/selectors';
import { check, eachOf, notNegative, oneOf } from '../../rules';
import type { Errors } from '../../rules';
import { validateReplicaStatus } from '../replica-status';
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

function validate({ spec }: StatefulSet): Errors {
  const given = spec ?? ({} as StatefulSetSpec);
  const { updateStrategy, persistentVolumeClaimRetentionPolicy: retention } = given;
  const errors = [
    ...validatePolicies(given),
    ...notNegative('spec.updateStrategy.rollingUpdate.partition', updateStrategy?.rollingUpdate?.partition),
    ...oneOf('spec.persistentVolumeClaimRetentionPolicy.whenDeleted', retention?.whenDeleted, [
      'Retain',
      'Delete',
    ]),
    ...oneOf('spec.persistentVolumeClaimRetentionPolicy.whenScaled', retention?.whenScaled, [
      'Retain',
      'Delete',
    ]),
    ...notNegative('spec.replicas', given.replicas),
    ...notNegative('spec.minReadySeconds', given.minReadySeconds),
    ...notNegative('spec.ordinals.start', given.ordinals?.start),
    ...validateWorkloadSelector(given.selector, 'statefulset', ''),
    ...validateSelectedTemplate(withClaimVolumes(given), given.selector),
    ...onlyAlways(given.template, 'StatefulSet'),
  ];
  if (updateStrategy?.type === 'OnDelete' && updateStrategy.rollingUpdate) {
    const detail = "only allowed for updateStrategy 'RollingUpdate'";
    errors.push(invalid('spec.updateStrategy.rollingUpdate', updateStrategy.rollingUpdate, detail));
  }
  return errors;
}

/** What can't change later is looked at once. */
const validateOnCreate = ({ spec }: StatefulSet): Errors => [
  ...(spec?.serviceName ? check('spec.serviceName', spec.serviceName, isDns1123Label) : []),
  ...eachOf('spec.volumeClaimTemplates', spec?.volumeClaimTemplates, (claim, at) =>
    validateClaimSpec(claim.spec ?? {}, child(at, 'spec')),
  ),
];

function validatePolicies({ podManagementPolicy: management, updateStrategy }: StatefulSetSpec): Errors {
  const errors: Errors = [];
  if (!management) errors.push(required('spec.podManagementPolicy'));
  else if (!['OrderedReady', 'Parallel'].includes(management)) {
    const detail = "must be 'OrderedReady' or 'Parallel'";
    errors.push(invalid('spec.podManagementPolicy', management, detail));
  }
  const type: string | undefined = updateStrategy?.type;
  if (!type) errors.push(required('spec.updateStrategy'));
  else if (!['RollingUpdate', 'OnDelete'].includes(type)) {
    const rolling = updateStrategy?.rollingUpdate
      ? { Partition: updateStrategy.rollingUpdate.partition ?? 0, MaxUnavailable: null }
      : null;
    const shown = { Type: type, RollingUpdate: rolling };
    errors.push(invalid('spec.updateStrategy', shown, "must be 'RollingUpdate' or 'OnDelete'"));
  }
  return errors;
}

/** Claim templates are volumes of the Pods. */
function withClaimVolumes({
  template,
  volumeClaimTemplates = [],
}: StatefulSetSpec): StatefulSetSpec['template'] {
  if (volumeClaimTemplates.length === 0 || !template?.spec) return template;
  const own = template.spec.volumes ?? [];
  const claims = volumeClaimTemplates
    .map((claim) => claim.metadata?.name ?? '')
    .filter((name, i, all) => all.indexOf(name) === i && !own.some((volume) => volume.name === name))
    .map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  return { ...template, spec: { ...template.spec, volumes: [...own, ...claims] } };
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
  revalidatesMeta: true,
  default: (set) => mapMember(set, 'spec', defaultSpec),
  nameCheck: isDns1123Label,
  prepareForCreate: (set) => ({
    ...mapMember(set, 'spec', withoutMaxUnavailable),
    status: { replicas: 0, availableReplicas: 0 },
  }),
  prepareForUpdate: (set) => mapMember(set, 'spec', withoutMaxUnavailable),
  validate: (set) => [...validate(set), ...validateOnCreate(set)],
  validateUpdate: (set, old) => [
    ...validate(set),
    ...(semanticEqual(withoutMutable(set.spec), withoutMutable(old.spec))
      ? []
      : [forbidden('spec', unchangeable)]),
  ],
  validateStatusUpdate: (set) =>
    validateReplicaStatus(set.status ?? { replicas: 0 }, [
      'replicas',
      'readyReplicas',
      'currentReplicas',
      'updatedReplicas',
      'availableReplicas',
    ]),
  warnings: (set, old) => [
    ...(isTold(set, old) ? podSpecWarnings(set.spec?.template?.spec, 'spec.template.spec') : []),
    ...((set.spec?.revisionHistoryLimit ?? 0) < 0
      ? [
          'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended',
        ]
      : []),
  ],
  tableCells: statefulSetCells,
});
