import { ResourceQuotas } from '@tinkernetes/api';
import type { ResourceQuota, ResourceQuotaSpec } from '@tinkernetes/api';
import { invalid, mapKey, Quantity, required, semanticEqual } from '@tinkernetes/apimachinery';
import { age } from '../../../printers/cells';
import { defineStrategy } from '../../define-strategy';
import { mapMember } from '../../fill';
import { roundUpToMilli } from '../../pod-spec/resource-defaults';
import { validateQuantityValue, validateResourceName } from '../../pod-spec/resources';
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

const podResources = ['cpu', 'memory', 'ephemeral-storage'];
const quotaResources = new Set([
  ...podResources,
  ...podResources.flatMap((name) => [`requests.${name}`, `limits.${name}`]),
  'requests.storage',
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'persistentvolumeclaims',
  'configmaps',
  'services.nodeports',
  'services.loadbalancers',
]);
const isQuotaResource = (name: string): boolean =>
  quotaResources.has(name) || name.startsWith('hugepages-') || name.startsWith('requests.hugepages-');

/** Which resources a scope can narrow. Source: core/helper.IsResourceQuotaScopeValidForResource. */
function isScopeFor(scope: string, resource: string): boolean {
  switch (scope) {
    case 'BestEffort':
      return resource === 'pods';
    case 'VolumeAttributesClass':
      return ['persistentvolumeclaims', 'requests.storage'].includes(resource);
    case 'Terminating':
    case 'NotTerminating':
    case 'NotBestEffort':
    case 'PriorityClass':
    case 'CrossNamespacePodAffinity':
      return (
        resource === 'pods' ||
        podResources.some((name) => [name, `requests.${name}`, `limits.${name}`].includes(resource))
      );
    default:
      return true;
  }
}

const validateQuantities = (list: ResourceQuotaSpec['hard'], at: string): Errors =>
  Object.entries(list ?? {}).flatMap(([name, text]) => {
    const path = mapKey(at, name);
    return [
      ...validateResourceName(path, name),
      ...(name.includes('/') || isQuotaResource(name)
        ? []
        : [invalid(path, name, 'must be a standard resource for quota')]),
      ...validateQuantityValue(path, name, Quantity.parse(text)),
    ];
  });

function validate({ spec }: ResourceQuota): Errors {
  return [
    ...validateQuantities(spec?.hard, 'spec.hard'),
    ...validateScopes(spec),
    ...validateScopeSelector(spec),
  ];
}

const conflicting = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
];
const conflictIn = (names: readonly string[]): boolean =>
  conflicting.some((pair) => pair.every((name) => names.includes(name)));

const narrowed = (spec: ResourceQuotaSpec | undefined, scope: string): string[] =>
  Object.keys(spec?.hard ?? {})
    .filter(isQuotaResource)
    .filter((name) => !isScopeFor(scope, name));

function validateScopes(spec: ResourceQuotaSpec | undefined): Errors {
  const given: readonly string[] = spec?.scopes ?? [];
  const path = 'spec.scopes';
  return [
    ...given.flatMap((scope) => [
      ...(scopes.includes(scope) ? [] : [invalid(path, given, 'unsupported scope')]),
      ...narrowed(spec, scope).map(() => invalid(path, given, 'unsupported scope applied to resource')),
    ]),
    ...(conflictIn(given) ? [invalid(path, given, 'conflicting scopes')] : []),
  ];
}

const existsOnly = [
  'BestEffort',
  'NotBestEffort',
  'Terminating',
  'NotTerminating',
  'CrossNamespacePodAffinity',
];

/** As upstream's messages show it: under Go's names. */
const shownSelector = (selector: ResourceQuotaSpec['scopeSelector']) => ({
  MatchExpressions:
    selector?.matchExpressions?.map(({ scopeName, operator, values }) => ({
      ScopeName: scopeName ?? '',
      Operator: operator ?? '',
      Values: values ?? null,
    })) ?? null,
});

function validateScopeSelector(spec: ResourceQuotaSpec | undefined): Errors {
  const requirements = spec?.scopeSelector?.matchExpressions ?? [];
  const path = 'spec.scopeSelector.matchExpressions';
  const names = requirements.map(({ scopeName }) => scopeName as string);
  return [
    ...requirements.flatMap((requirement) => {
      const scope: string = requirement.scopeName ?? '';
      const operator: string = requirement.operator ?? '';
      const errors: Errors = [];
      if (!scopes.includes(scope)) errors.push(invalid(`${path}.scopeName`, scope, 'unsupported scope'));
      for (const _ of narrowed(spec, scope))
        errors.push(
          invalid(path, shownSelector(spec?.scopeSelector), 'unsupported scope applied to resource'),
        );
      if (existsOnly.includes(scope) && operator !== 'Exists') {
        const detail =
          "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
        errors.push(invalid(`${path}.operator`, operator, detail));
      }
      return [...errors, ...validateScopeOperator(operator, requirement.values ?? [], path)];
    }),
    ...(conflictIn(names) ? [invalid('spec.scopes', spec?.scopes ?? null, 'conflicting scopes')] : []),
  ];
}

function validateScopeOperator(operator: string, values: readonly string[], path: string): Errors {
  switch (operator) {
    case 'In':
    case 'NotIn': {
      const detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
      return values.length > 0 ? [] : [required(`${path}.values`, detail)];
    }
    case 'Exists':
    case 'DoesNotExist': {
      const detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
      return values.length === 0 ? [] : [invalid(`${path}.values`, values, detail)];
    }
    default:
      return [invalid(`${path}.operator`, operator, 'not a valid selector operator')];
  }
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
  validateStatusUpdate: ({ status }) => [
    ...validateQuantities(status?.hard, 'status.hard'),
    ...validateQuantities(status?.used, 'status.used'),
  ],
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
