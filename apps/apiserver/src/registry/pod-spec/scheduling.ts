import type {
  Affinity,
  LabelSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinityTerm,
  Toleration,
  TopologySpreadConstraint,
} from '@tinkernetes/api';
import {
  child,
  duplicate,
  forbidden,
  invalid,
  isDns1123Label,
  isDns1123Subdomain,
  isLabelValue,
  isQualifiedName,
  notSupported,
  required,
} from '@tinkernetes/apimachinery';
import { check, eachOf, oneOf, requireOneOf, within } from '../rules';
import type { Errors } from '../rules';
import { validateLabelSelector } from './label-selectors';

const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** Source: core/validation.ValidateTolerations. */
export const validateTolerations = (tolerations: readonly Toleration[] | undefined, path: string): Errors =>
  eachOf(path, tolerations, (toleration, at) => {
    const { key, operator, effect, tolerationSeconds } = toleration;
    const errors: Errors = [];
    if (key) errors.push(...check(child(at, 'key'), key, isQualifiedName));
    else if (operator !== 'Exists') {
      const detail =
        'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      errors.push(invalid(child(at, 'operator'), operator ?? '', detail));
    }
    if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
      const detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
      errors.push(invalid(child(at, 'effect'), effect ?? '', detail));
    }
    errors.push(...operatorErrors(toleration, at));
    return effect ? [...errors, ...oneOf(child(at, 'effect'), effect, taintEffects)] : errors;
  });

function operatorErrors(toleration: Toleration, at: string): Errors {
  const value = toleration.value ?? '';
  const path = child(at, 'operator');
  switch (toleration.operator || undefined) {
    case undefined:
    case 'Equal': {
      const problems = isLabelValue(value);
      return problems.length > 0 ? [invalid(path, value, problems.join(';'))] : [];
    }
    case 'Exists':
      return value === '' ? [] : [invalid(path, value, "value must be empty when `operator` is 'Exists'")];
    // Known, and off.
    case 'Lt':
    case 'Gt':
      return [notSupported(path, toleration.operator, ['Equal', 'Exists', 'Lt', 'Gt'])];
    default:
      return [notSupported(path, toleration.operator, ['Equal', 'Exists'])];
  }
}

function validateNodeRequirement(requirement: NodeSelectorRequirement, path: string): Errors {
  const { key, operator, values } = requirement;
  const count = values?.length ?? 0;
  const at = child(path, 'values');
  const errors: Errors = [];
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (count === 0) errors.push(required(at, "must be specified when `operator` is 'In' or 'NotIn'"));
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (count > 0)
        errors.push(forbidden(at, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
      break;
    case 'Gt':
    case 'Lt':
      if (count !== 1)
        errors.push(required(at, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
      break;
    default:
      errors.push(invalid(child(path, 'operator'), operator, 'not a valid selector operator'));
  }
  return [...errors, ...check(child(path, 'key'), key, isQualifiedName)];
}

function validateFieldRequirement({ key, operator, values }: NodeSelectorRequirement, path: string): Errors {
  const errors: Errors = [];
  const valuesPath = child(path, 'values');
  if (operator !== 'In' && operator !== 'NotIn') {
    errors.push(invalid(child(path, 'operator'), operator, 'not a valid selector operator'));
  } else if (values?.length !== 1) {
    const detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    errors.push(required(valuesPath, detail));
  }
  if (key !== 'metadata.name')
    return [...errors, invalid(child(path, 'key'), key, 'not a valid field selector key')];
  return [...errors, ...eachOf(valuesPath, values, (value, at) => check(at, value, isDns1123Subdomain))];
}

const validateNodeSelectorTerm = (term: NodeSelectorTerm, path: string): Errors => [
  ...eachOf(child(path, 'matchExpressions'), term.matchExpressions, validateNodeRequirement),
  ...eachOf(child(path, 'matchFields'), term.matchFields, validateFieldRequirement),
];

/** Of what is required, upstream looks at the values, too, whatever the operator. */
const validateRequiredTerm = (term: NodeSelectorTerm, path: string): Errors => [
  ...eachOf(child(path, 'matchExpressions'), term.matchExpressions, (requirement, at) => [
    ...validateNodeRequirement(requirement, at),
    ...eachOf(child(at, 'values'), requirement.values, (value, valuePath) =>
      check(valuePath, value, isLabelValue),
    ),
  ]),
  ...eachOf(child(path, 'matchFields'), term.matchFields, validateFieldRequirement),
];

export function validateNodeSelector(terms: readonly NodeSelectorTerm[] | undefined, path: string): Errors {
  const at = child(path, 'nodeSelectorTerms');
  if (!terms?.length) return [required(at, 'must have at least one node selector term')];
  return eachOf(at, terms, validateRequiredTerm);
}

const weight = (path: string, value: number): Errors =>
  value < 1 || value > 100 ? [invalid(child(path, 'weight'), value, 'must be in the range 1-100')] : [];

function validatePodTerm(term: PodAffinityTerm, path: string): Errors {
  return [
    ...validateLabelSelector(term.labelSelector, child(path, 'labelSelector')),
    ...validateLabelSelector(term.namespaceSelector, child(path, 'namespaceSelector')),
    ...eachOf(child(path, 'namespaces'), term.namespaces, (name) =>
      check(child(path, 'namespace'), name, isDns1123Label),
    ),
    ...validateKeysOfLabels(term, path),
    ...(term.topologyKey ? [] : [required(child(path, 'topologyKey'), 'can not be empty')]),
    ...check(child(path, 'topologyKey'), term.topologyKey, isQualifiedName),
  ];
}

interface LabelKeys {
  labelSelector?: LabelSelector;
  matchLabelKeys?: string[];
  mismatchLabelKeys?: string[];
}

/** Keys whose values the Pod's own labels give. Source: core/validation.ValidateMatchLabelKeysAndMismatchLabelKeys. */
function validateKeysOfLabels(term: LabelKeys, path: string): Errors {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  const keys = (list: readonly string[], at: string): Errors => {
    if (list.length === 0) return [];
    if (!labelSelector) return [forbidden(at, 'must not be specified when labelSelector is not set')];
    return eachOf(at, list, (key, keyPath) => check(keyPath, key, isQualifiedName));
  };
  const matchPath = child(path, 'matchLabelKeys');
  return [
    ...keys(matchLabelKeys, matchPath),
    ...keys(mismatchLabelKeys, child(path, 'mismatchLabelKeys')),
    ...eachOf(matchPath, matchLabelKeys, (key, at) =>
      mismatchLabelKeys.includes(key)
        ? [invalid(at, key, 'exists in both matchLabelKeys and mismatchLabelKeys')]
        : [],
    ),
  ];
}

const requiredTerms = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';

/** Source: core/validation.validateAffinity. */
export function validateAffinity(affinity: Affinity | undefined, path: string): Errors {
  if (!affinity) return [];
  const { nodeAffinity, podAffinity, podAntiAffinity } = affinity;
  const podRules = (name: string, rules: typeof podAffinity): Errors =>
    within(path, name, rules, (part, at) => [
      ...eachOf(child(at, requiredTerms), part[requiredTerms], validatePodTerm),
      ...eachOf(child(at, preferred), part[preferred], (term, termPath) => [
        ...weight(termPath, term.weight),
        ...within(termPath, 'podAffinityTerm', term.podAffinityTerm ?? { topologyKey: '' }, validatePodTerm),
      ]),
    ]);
  return [
    ...within(path, 'nodeAffinity', nodeAffinity, (part, at) => [
      ...within(at, requiredTerms, part[requiredTerms], (selector, selectorPath) =>
        validateNodeSelector(selector.nodeSelectorTerms, selectorPath),
      ),
      ...eachOf(child(at, preferred), part[preferred], (term, termPath) => [
        ...weight(termPath, term.weight),
        ...within(termPath, 'preference', term.preference, validateNodeSelectorTerm),
      ]),
    ]),
    ...podRules('podAffinity', podAffinity),
    ...podRules('podAntiAffinity', podAntiAffinity),
  ];
}

/** Source: core/validation.validateTopologySpreadConstraints. */
export function validateTopologySpread(
  constraints: readonly TopologySpreadConstraint[] | undefined,
  path: string,
): Errors {
  return eachOf(path, constraints, (constraint, at, i) => {
    const { maxSkew, topologyKey, whenUnsatisfiable, minDomains } = constraint;
    const errors: Errors = [];
    if (maxSkew <= 0) errors.push(invalid(child(at, 'maxSkew'), maxSkew, 'must be greater than zero'));
    if (!topologyKey) errors.push(required(child(at, 'topologyKey'), 'can not be empty'));
    errors.push(
      ...oneOf(child(at, 'whenUnsatisfiable'), whenUnsatisfiable, ['DoNotSchedule', 'ScheduleAnyway']),
    );
    const pair = `{${topologyKey}, ${whenUnsatisfiable}}`;
    const isRepeated = constraints
      ?.slice(i + 1)
      .some((other) => `{${other.topologyKey}, ${other.whenUnsatisfiable}}` === pair);
    if (isRepeated) errors.push(duplicate(child(at, '{topologyKey, whenUnsatisfiable}'), pair));
    if (minDomains !== undefined && minDomains <= 0) {
      errors.push(invalid(child(at, 'minDomains'), minDomains, 'must be greater than zero'));
    }
    if (minDomains !== undefined && whenUnsatisfiable !== 'DoNotSchedule') {
      const detail = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`;
      errors.push(invalid(child(at, 'minDomains'), minDomains, detail));
    }
    errors.push(
      ...oneOf(child(at, 'nodeAffinityPolicy'), constraint.nodeAffinityPolicy, ['Honor', 'Ignore']),
    );
    errors.push(...oneOf(child(at, 'nodeTaintsPolicy'), constraint.nodeTaintsPolicy, ['Honor', 'Ignore']));
    return [
      ...errors,
      ...validateKeysOfLabels(constraint, at),
      ...validateLabelSelector(constraint.labelSelector, child(at, 'labelSelector')),
    ];
  });
}

export const validateTaintEffect = (path: string, effect: string | undefined): Errors =>
  requireOneOf(path, effect, taintEffects);
