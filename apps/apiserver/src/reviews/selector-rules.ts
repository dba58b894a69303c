import type { ResourceAttributes } from '@tinkernetes/api';
import { child, forbidden, index, invalid, isQualifiedName, required } from '@tinkernetes/apimachinery';
import type { FieldError } from '../contracts';

interface Requirement {
  readonly key?: string;
  readonly operator?: string;
  readonly values?: readonly string[];
}
interface Selector {
  readonly rawSelector?: string;
  readonly requirements?: readonly Requirement[];
}

/** What is wrong with the selectors of a question. Source: k8s.io/kubernetes/pkg/apis/authorization/validation. */
export const selectorErrors = ({ fieldSelector, labelSelector }: ResourceAttributes): FieldError[] => [
  ...errorsOf(fieldSelector, 'spec.resourceAttributes.fieldSelector', fieldKeyErrors),
  ...errorsOf(labelSelector, 'spec.resourceAttributes.labelSelector', labelKeyErrors),
];

type KeyErrors = (key: string, path: string) => FieldError[];

const fieldKeyErrors: KeyErrors = (key, path) => (key === '' ? [required(path, 'must be specified')] : []);
const labelKeyErrors: KeyErrors = (key, path) =>
  isQualifiedName(key).map((message) => invalid(path, key, message));

function errorsOf(selector: Selector | undefined, path: string, keyErrors: KeyErrors): FieldError[] {
  if (!selector) return [];
  const { rawSelector = '', requirements = [] } = selector;
  const errors: FieldError[] = [];
  if (rawSelector !== '' && requirements.length > 0) {
    const detail = 'may not specified at the same time as requirements';
    errors.push(invalid(child(path, 'rawSelector'), rawSelector, detail));
  }
  if (rawSelector === '' && requirements.length === 0) {
    const detail = `when ${path} is specified, requirements or rawSelector is required`;
    errors.push(required(child(path, 'requirements'), detail));
  }
  requirements.forEach((requirement, i) => {
    const at = index(child(path, 'requirements'), i);
    errors.push(...valueErrors(requirement, child(at, 'values')));
    errors.push(...keyErrors(requirement.key ?? '', child(at, 'key')));
  });
  return errors;
}

/** Operators that nobody knows are those of newer clients. */
function valueErrors({ operator, values = [] }: Requirement, path: string): FieldError[] {
  const wants = operator === 'In' || operator === 'NotIn';
  const refuses = operator === 'Exists' || operator === 'DoesNotExist';
  if (wants && values.length === 0) {
    return [required(path, "must be specified when `operator` is 'In' or 'NotIn'")];
  }
  return refuses && values.length > 0
    ? [forbidden(path, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")]
    : [];
}
