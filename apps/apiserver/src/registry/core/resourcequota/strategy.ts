import { ResourceQuotas } from '@tinkernetes/api';
import type { ResourceQuota } from '@tinkernetes/api';
import { isQualifiedName, mapKey, Quantity, semanticEqual, invalid } from '@tinkernetes/apimachinery';
import { age } from '../../../printers/cells';
import { defineStrategy } from '../../define-strategy';
import { mapMember } from '../../fill';
import { roundUpToMilli } from '../../pod-spec/container-defaults';
import { validateQuantityValue } from '../../pod-spec/resources';
import { check, oneOf } from '../../rules';
import type { Errors } from '../../rules';

const scopes = [
  'BestEffort',
  'CrossNamespacePodAffinity',
  'NotBestEffort',
  'NotTerminating',
  'PriorityClass',
  'Terminating',
  'VolumeAttributesClass',
];

function validate({ spec }: ResourceQuota): Errors {
  return [
    ...Object.entries(spec?.hard ?? {}).flatMap(([name, text]) => {
      const path = mapKey('spec.hard', name);
      return [
        ...check(path, name, isQualifiedName),
        ...validateQuantityValue(path, name, Quantity.parse(text)),
      ];
    }),
    ...(spec?.scopes ?? []).flatMap((scope) => oneOf('spec.scopes', scope, scopes)),
  ];
}

/** `pods: 1/10, requests.cpu: 0/1500m`. */
function usage(quota: ResourceQuota, isLimit: boolean): string {
  const { hard = {}, used = {} } = quota.status ?? {};
  return Object.keys(hard)
    .filter((name) => name.startsWith('limits') === isLimit)
    .sort()
    .map((name) => `${name}: ${used[name] ?? '0'}/${hard[name] ?? '0'}`)
    .join(', ');
}

/** Source: k8s.io/kubernetes/pkg/registry/core/resourcequota. */
export const resourceQuotaStrategy = defineStrategy(ResourceQuotas, {
  hasGeneration: false,
  returnDeletedObject: true,
  default: (quota) => mapMember(quota, 'spec', (spec) => mapMember(spec, 'hard', roundUpToMilli)),
  validate,
  validateUpdate: (quota, old) => [
    ...validate(quota),
    ...(semanticEqual(quota.spec?.scopes, old.spec?.scopes)
      ? []
      : [invalid('spec.scopes', quota.spec?.scopes ?? null, 'field is immutable')]),
  ],
  tableCells: (quota, now) => [quota.metadata.name, usage(quota, false), usage(quota, true), age(quota, now)],
});
