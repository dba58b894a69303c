import type { Container, NodeSelectorTerm, Pod, PodSpec, Toleration } from '@tinkernetes/api';
import {
  child,
  deepEqual,
  forbidden,
  index,
  invalid,
  required,
  semanticEqual,
} from '@tinkernetes/apimachinery';
import { validateTolerations } from '../../pod-spec/scheduling';
import { goDiff } from '../../go-diff';
import { goStruct } from '../../go-struct';
import { eachOf } from '../../rules';
import type { Errors } from '../../rules';
import { validateWholePod } from './validate';

const unchangeable =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

const emptySpec: PodSpec = { containers: [] };

/** What may change in a Pod. Source: core/validation.ValidatePodUpdate. */
export function validatePodUpdate(pod: Pod, old: Pod): Errors {
  const spec = pod.spec ?? emptySpec;
  const oldSpec = old.spec ?? emptySpec;
  const errors = validateWholePod(pod);
  const structural = validateContainerCount(spec, oldSpec);
  if (structural.length > 0) return [...errors, ...structural];
  errors.push(...validateGates(spec, oldSpec));
  errors.push(...validateImages(spec), ...validateDeadline(spec, oldSpec));
  if (!semanticEqual(spec.tolerations, oldSpec.tolerations)) errors.push(...validateAdditions(spec, oldSpec));
  const comparable = withChangeableFieldsOf(spec, oldSpec);
  const isGated = (oldSpec.schedulingGates ?? []).length > 0;
  if (isGated)
    errors.push(...validateSelectorAdditions(spec, oldSpec), ...validateNodeAffinity(spec, oldSpec));
  if (!semanticEqual(comparable, oldSpec))
    errors.push(forbidden('spec', `${unchangeable}\n${goDiff(oldSpec, comparable, 'PodSpec')}`));
  return errors;
}

/** While a Pod waits for its gates, where it may go can only be narrowed. */
function validateSelectorAdditions(spec: PodSpec, oldSpec: PodSpec): Errors {
  const next = spec.nodeSelector ?? {};
  const isKept = Object.entries(oldSpec.nodeSelector ?? {}).every(
    ([key, value]) => Object.hasOwn(next, key) && next[key] === value,
  );
  const detail = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)';
  return isKept ? [] : [invalid('spec.nodeSelector', spec.nodeSelector ?? null, detail)];
}

type Affinity = PodSpec['affinity'];
const termsOf = (affinity: Affinity): NodeSelectorTerm[] =>
  affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];

/** Of what nodes must have, there can be more, and never less. Source: core/validation.validateNodeAffinityMutation. */
function validateNodeAffinity({ affinity }: PodSpec, { affinity: oldAffinity }: PodSpec): Errors {
  if (semanticEqual(affinity?.nodeAffinity, oldAffinity?.nodeAffinity)) return [];
  const [terms, before] = [termsOf(affinity), termsOf(oldAffinity)];
  if (before.length === 0) return [];
  const path = 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms';
  const shown = terms.map((term) => goStruct(term, 'NodeSelectorTerm'));
  if (terms.length !== before.length) {
    const detail = 'no additions/deletions to non-empty NodeSelectorTerms list are allowed';
    return [invalid(path, terms.length > 0 ? shown : null, detail)];
  }
  return terms.flatMap((term, i) =>
    hasOnlyAdditions(term, before[i] ?? {})
      ? []
      : [invalid(index(path, i), shown[i], 'only additions are allowed (no mutations or deletions)')],
  );
}

function hasOnlyAdditions(term: NodeSelectorTerm, old: NodeSelectorTerm): boolean {
  const isEmpty = ({ matchExpressions, matchFields }: NodeSelectorTerm) =>
    (matchExpressions ?? []).length + (matchFields ?? []).length === 0;
  if (isEmpty(old)) return isEmpty(term);
  return (['matchExpressions', 'matchFields'] as const).every((name) => {
    const before = old[name] ?? [];
    return semanticEqual((term[name] ?? []).slice(0, before.length), before);
  });
}

/** A new affinity with the old one's wishes of nodes. */
function withNodeAffinityOf(affinity: Affinity, old: Affinity): Affinity {
  const before = old?.nodeAffinity;
  if (semanticEqual(affinity?.nodeAffinity, before)) return affinity;
  if (!affinity) return { nodeAffinity: before };
  const { nodeAffinity: _, ...others } = affinity;
  if (!old && Object.keys(others).length === 0) return undefined;
  return before ? { ...others, nodeAffinity: before } : others;
}

function validateContainerCount(spec: PodSpec, oldSpec: PodSpec): Errors {
  for (const list of ['containers', 'initContainers'] as const) {
    if ((spec[list] ?? []).length !== (oldSpec[list] ?? []).length)
      return [forbidden(`spec.${list}`, 'pod updates may not add or remove containers')];
  }
  return [];
}

/** An image may change, and not vanish: upstream says so once more. */
const validateImages = (spec: PodSpec): Errors =>
  (['containers', 'initContainers'] as const).flatMap((list) =>
    eachOf(`spec.${list}`, spec[list], ({ image }, at) => (image ? [] : [required(child(at, 'image'))])),
  );

function validateGates(spec: PodSpec, oldSpec: PodSpec): Errors {
  const before = new Set((oldSpec.schedulingGates ?? []).map((gate) => gate.name));
  return eachOf('spec.schedulingGates', spec.schedulingGates, ({ name }, at) =>
    before.has(name)
      ? []
      : [forbidden(child(at, 'name'), `only deletion is allowed, but found new scheduling gate '${name}'`)],
  );
}

function validateDeadline(spec: PodSpec, oldSpec: PodSpec): Errors {
  const path = 'spec.activeDeadlineSeconds';
  const [next, before] = [spec.activeDeadlineSeconds, oldSpec.activeDeadlineSeconds];
  if (next === undefined) {
    return before === undefined
      ? []
      : [invalid(path, null, 'must not update from a positive integer to nil value')];
  }
  if (next < 0 || next > 2_147_483_647)
    return [invalid(path, next, 'must be between 0 and 2147483647, inclusive')];
  return before !== undefined && before < next
    ? [invalid(path, next, `must be less than or equal to previous value`)]
    : [];
}

/** Tolerations may only be added; of an existing one only the seconds may change. */
function validateAdditions(spec: PodSpec, oldSpec: PodSpec): Errors {
  const next = spec.tolerations ?? [];
  const without = ({ tolerationSeconds: _seconds, ...rest }: Toleration) => rest;
  const isKept = (oldSpec.tolerations ?? []).every((before) =>
    next.some((toleration) => deepEqual(without(toleration), without(before))),
  );
  const detail = 'existing toleration can not be modified except its tolerationSeconds';
  return isKept ? validateTolerations(next, 'spec.tolerations') : [forbidden('spec.tolerations', detail)];
}

/** The new specification with the old one's values where a change is allowed. */
function withChangeableFieldsOf(spec: PodSpec, old: PodSpec): PodSpec {
  const images = (list: readonly Container[] | undefined, before: readonly Container[] | undefined) =>
    list?.map((container, i) => ({ ...container, image: before?.[i]?.image }));
  const isGraceFix = spec.terminationGracePeriodSeconds === 1 && (old.terminationGracePeriodSeconds ?? 0) < 0;
  const isGated = (old.schedulingGates ?? []).length > 0;
  return {
    ...spec,
    containers: images(spec.containers, old.containers) ?? [],
    initContainers: images(spec.initContainers, old.initContainers),
    activeDeadlineSeconds: old.activeDeadlineSeconds,
    tolerations: old.tolerations,
    schedulingGates: old.schedulingGates,
    ...(isGated
      ? { nodeSelector: old.nodeSelector, affinity: withNodeAffinityOf(spec.affinity, old.affinity) }
      : {}),
    ...(isGraceFix ? { terminationGracePeriodSeconds: old.terminationGracePeriodSeconds } : {}),
  };
}
