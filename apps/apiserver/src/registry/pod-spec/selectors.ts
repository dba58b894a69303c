import type { LabelSelector, PodTemplateSpec } from '@tinkernetes/api';
import { child, invalid, required, Selector, selectorOf } from '@tinkernetes/apimachinery';
import type { Errors } from '../rules';
import { validateLabelSelector } from './label-selectors';
import { validatePodTemplate } from './validate';

const isEmpty = (selector: LabelSelector): boolean =>
  Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions?.length ?? 0) === 0;

const mismatch = '`selector` does not match template `labels`';

/**
 * A workload's selector: there, not empty, well-formed. `malformed` is said of the whole when a part of it is wrong;
 * undefined: nothing is.
 */
export function validateWorkloadSelector(
  selector: LabelSelector | undefined,
  kind: string,
  malformed?: string,
): Errors {
  if (!selector) return [required('spec.selector')];
  const errors = validateLabelSelector(selector, 'spec.selector');
  if (isEmpty(selector))
    errors.push(invalid('spec.selector', selector, `empty selector is invalid for ${kind}`));
  if (malformed !== undefined && !isWellFormed(selector))
    errors.push(invalid('spec.selector', selector, malformed));
  return errors;
}

/** Some kinds look at the template only when this holds. */
export function isWellFormed(selector: LabelSelector | undefined): boolean {
  if (!selector) return true;
  try {
    selectorOf(selector);
    return validateLabelSelector(selector, '').length === 0;
  } catch (error) {
    if (error instanceof Error) return false;
    throw error;
  }
}

/** The template, which has to carry the labels that its owner looks for. */
export function validateSelectedTemplate(
  template: PodTemplateSpec | undefined,
  selector: LabelSelector | Selector | undefined,
  path = 'spec.template',
): Errors {
  if (!template) return [required(path)];
  return [...validateTemplateLabels(template, selector, path), ...validatePodTemplate(template, path)];
}

export function validateTemplateLabels(
  template: PodTemplateSpec,
  selector: LabelSelector | Selector | undefined,
  path: string,
): Errors {
  const labels = template.metadata?.labels;
  if (matches(selector, labels)) return [];
  return [invalid(child(path, 'metadata', 'labels'), labels ?? null, mismatch)];
}

function matches(
  selector: LabelSelector | Selector | undefined,
  labels: Record<string, string> | undefined,
): boolean {
  if (!selector) return false;
  try {
    const parsed = selector instanceof Selector ? selector : selectorOf(selector);
    return parsed.isEverything || parsed.matches(labels);
  } catch (error) {
    if (error instanceof Error) return true;
    throw error;
  }
}
