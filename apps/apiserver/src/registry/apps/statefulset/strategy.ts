import { StatefulSets } from '@tinkernetes/api';
import type { StatefulSet, StatefulSetSpec } from '@tinkernetes/api';
import { forbidden, invalid, semanticEqual } from '@tinkernetes/apimachinery';
import { statefulSetCells } from '../../../printers/workloads';
import { podSpecWarnings } from '../../core/pod/warnings';
import { defaultClaim } from '../../core/persistentvolumeclaim/defaults';
import { defineStrategy } from '../../define-strategy';
import { fill, mapList, mapMember } from '../../fill';
import { defaultPodTemplate } from '../../pod-spec/defaults';
import { validateSelectedTemplate, validateWorkloadSelector } from '../../pod-spec/selectors';
import { notNegative, oneOf, requireOneOf } from '../../rules';
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
  const updateStrategy = fill(spec.updateStrategy ?? {}, { type: 'RollingUpdate' });
  const withClaims = mapMember(spec, 'volumeClaimTemplates', (claims) =>
    mapList(claims, (claim) => ({
      kind: 'PersistentVolumeClaim',
      apiVersion: 'v1',
      ...defaultClaim(claim),
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
      ? { ...updateStrategy, rollingUpdate: fill(updateStrategy.rollingUpdate ?? {}, { partition: 0 }) }
      : updateStrategy,
  };
}

function validate({ spec }: StatefulSet): Errors {
  const given = spec ?? ({} as StatefulSetSpec);
  const { updateStrategy, persistentVolumeClaimRetentionPolicy: retention } = given;
  const errors = [
    ...requireOneOf('spec.podManagementPolicy', given.podManagementPolicy, ['OrderedReady', 'Parallel']),
    ...requireOneOf('spec.updateStrategy', updateStrategy?.type, ['OnDelete', 'RollingUpdate']),
    ...notNegative('spec.updateStrategy.rollingUpdate.partition', updateStrategy?.rollingUpdate?.partition),
    ...oneOf('spec.persistentVolumeClaimRetentionPolicy.whenDeleted', retention?.whenDeleted, [
      'Delete',
      'Retain',
    ]),
    ...oneOf('spec.persistentVolumeClaimRetentionPolicy.whenScaled', retention?.whenScaled, [
      'Delete',
      'Retain',
    ]),
    ...notNegative('spec.replicas', given.replicas),
    ...notNegative('spec.minReadySeconds', given.minReadySeconds),
    ...notNegative('spec.ordinals.start', given.ordinals?.start),
    ...validateWorkloadSelector(given.selector, 'statefulset'),
    ...validateSelectedTemplate(withClaimVolumes(given), given.selector),
    ...onlyAlways(given.template),
  ];
  if (updateStrategy?.type === 'OnDelete' && updateStrategy.rollingUpdate) {
    const detail = "only allowed for updateStrategy 'RollingUpdate'";
    errors.push(invalid('spec.updateStrategy.rollingUpdate', updateStrategy.rollingUpdate, detail));
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
    .map((claim) => claim.metadata.name)
    .filter((name) => !own.some((volume) => volume.name === name))
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

/** Source: k8s.io/kubernetes/pkg/registry/apps/statefulset. */
export const statefulSetStrategy = defineStrategy(StatefulSets, {
  default: (set) => mapMember(set, 'spec', defaultSpec),
  prepareForCreate: (set) => ({ ...set, status: { replicas: 0, availableReplicas: 0 } }),
  validate,
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
  warnings: (set) => podSpecWarnings(set.spec?.template?.spec, 'spec.template.spec'),
  tableCells: statefulSetCells,
});
