import type { Node, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Pod } from '@tinkernetes/api';
import { requirementMatches } from '../selectors/requirement';
import type { LabelOperator, Labels } from '../selectors/requirement';

const operatorOf: Readonly<Record<NodeSelectorRequirement['operator'], LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
  Gt: 'gt',
  Lt: 'lt',
};

const requirementHolds = ({ key, operator, values }: NodeSelectorRequirement, labels: Labels): boolean =>
  requirementMatches({ key, operator: operatorOf[operator], values: values ?? [] }, labels);

/** A term without any expression matches no node. Source: k8s.io/component-helpers/scheduling/corev1/nodeaffinity. */
export function nodeSelectorTermMatches(term: NodeSelectorTerm, node: Node): boolean {
  const expressions = term.matchExpressions ?? [];
  const fields = term.matchFields ?? [];
  if (expressions.length === 0 && fields.length === 0) return false;
  const labels = node.metadata.labels ?? {};
  const nodeFields = { 'metadata.name': node.metadata.name };
  return (
    expressions.every((expression) => requirementHolds(expression, labels)) &&
    fields.every((field) => requirementHolds(field, nodeFields))
  );
}

/** One of the terms matches. */
export const nodeSelectorMatches = (selector: NodeSelector, node: Node): boolean =>
  selector.nodeSelectorTerms.some((term) => nodeSelectorTermMatches(term, node));

/** `nodeSelector` and the required node affinity of a Pod. */
export function requiredNodeAffinityMatches(pod: Pod, node: Node): boolean {
  const labels = node.metadata.labels ?? {};
  const wanted = Object.entries(pod.spec?.nodeSelector ?? {});
  if (!wanted.every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value)) return false;
  const affinity = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return !affinity || nodeSelectorMatches(affinity, node);
}
