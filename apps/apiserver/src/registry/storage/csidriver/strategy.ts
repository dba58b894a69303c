import { CSIDrivers } from '@tinkernetes/api';
import type { CSIDriver } from '@tinkernetes/api';
import { child, duplicate, invalid } from '@tinkernetes/apimachinery';
import { age } from '../../../printers/cells';
import { defineStrategy } from '../../define-strategy';
import { fill, mapMember } from '../../fill';
import { immutable } from '../../immutable';
import { eachOf, oneOf } from '../../rules';
import type { Errors } from '../../rules';

const validate = ({ spec }: CSIDriver): Errors => [
  ...oneOf('spec.fsGroupPolicy', spec?.fsGroupPolicy, ['File', 'None', 'ReadWriteOnceWithFSType']),
  ...(spec?.volumeLifecycleModes ?? []).flatMap((mode) =>
    oneOf('spec.volumeLifecycleModes', mode, ['Persistent', 'Ephemeral']),
  ),
  ...eachOf('spec.tokenRequests', spec?.tokenRequests, ({ audience, expirationSeconds: seconds }, at, i) => {
    const earlier = spec?.tokenRequests?.slice(0, i) ?? [];
    const secondsPath = child(at, 'expirationSeconds');
    return [
      ...(earlier.some((other) => other.audience === audience)
        ? [duplicate(child(at, 'audience'), audience)]
        : []),
      ...(seconds !== undefined && seconds < shortestToken
        ? [invalid(secondsPath, seconds, 'may not specify a duration less than 10 minutes')]
        : []),
      ...(seconds !== undefined && seconds > 2 ** 32
        ? [invalid(secondsPath, seconds, 'may not specify a duration larger than 2^32 seconds')]
        : []),
    ];
  }),
  ...validatePeriod(spec?.nodeAllocatableUpdatePeriodSeconds),
];

const shortestToken = 600;
const shortestPeriod = 10;

function validatePeriod(seconds: number | undefined): Errors {
  if (seconds === undefined || seconds >= shortestPeriod) return [];
  const detail = `must be greater than or equal to ${shortestPeriod} seconds`;
  return [invalid('spec.nodeAllocatableUpdatePeriodSeconds', seconds, detail)];
}

/** Source: k8s.io/kubernetes/pkg/registry/storage/csidriver. */
export const csiDriverStrategy = defineStrategy(CSIDrivers, {
  returnDeletedObject: true,
  allowUnconditionalUpdate: false,
  hasGeneration: false,
  // It comes with a feature that is off.
  prepareForCreate: (driver) =>
    mapMember(driver, 'spec', ({ preventPodSchedulingIfMissing: _, ...spec }) => spec),
  warnings: ({ spec }, old) =>
    !old && spec?.tokenRequests?.length && spec.serviceAccountTokenInSecrets === undefined
      ? [
          'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes',
        ]
      : [],
  default: (driver) =>
    mapMember(driver, 'spec', (spec) =>
      fill(spec, {
        attachRequired: true,
        podInfoOnMount: false,
        storageCapacity: false,
        fsGroupPolicy: 'ReadWriteOnceWithFSType',
        volumeLifecycleModes: ['Persistent'],
        requiresRepublish: false,
        seLinuxMount: false,
      }),
    ),
  validate,
  validateUpdate: (driver, old) => [
    ...validate(driver),
    ...immutable('spec.attachedRequired', driver.spec?.attachRequired, old.spec?.attachRequired),
    ...immutable(
      'spec.volumeLifecycleModes',
      driver.spec?.volumeLifecycleModes,
      old.spec?.volumeLifecycleModes,
    ),
  ],
  tableCells: (driver, now) => {
    const { spec, metadata } = driver;
    const audiences = (spec?.tokenRequests ?? []).map((request) => request.audience);
    return [
      metadata.name,
      spec?.attachRequired ?? true,
      spec?.podInfoOnMount ?? false,
      spec?.storageCapacity ?? false,
      audiences.length > 0 ? audiences.join(',') : '<unset>',
      spec?.requiresRepublish ?? false,
      (spec?.volumeLifecycleModes ?? []).join(',') || '<none>',
      age(driver, now),
    ];
  },
});
