import { CSIDrivers } from '@tinkernetes/api';
import type { CSIDriver } from '@tinkernetes/api';
import { age } from '../../../printers/cells';
import { defineStrategy } from '../../define-strategy';
import { fill, mapMember } from '../../fill';
import { immutable } from '../../immutable';
import { oneOf } from '../../rules';
import type { Errors } from '../../rules';

const validate = ({ spec }: CSIDriver): Errors => [
  ...oneOf('spec.fsGroupPolicy', spec?.fsGroupPolicy, ['File', 'None', 'ReadWriteOnceWithFSType']),
  ...(spec?.volumeLifecycleModes ?? []).flatMap((mode) =>
    oneOf('spec.volumeLifecycleModes', mode, ['Persistent', 'Ephemeral']),
  ),
];

/** Source: k8s.io/kubernetes/pkg/registry/storage/csidriver. */
export const csiDriverStrategy = defineStrategy(CSIDrivers, {
  hasGeneration: true,
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
