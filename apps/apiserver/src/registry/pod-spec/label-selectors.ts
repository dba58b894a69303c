import type { LabelSelector } from '@tinkernetes/api';
import {
  child,
  forbidden,
  index,
  invalid,
  isLabelValue,
  isQualifiedName,
  required,
  validateLabels,
} from '@tinkernetes/apimachinery';
import { check, eachOf } from '../rules';
import type { Errors } from '../rules';

/** Source: apimachinery/pkg/apis/meta/v1/validation.ValidateLabelSelector. */
export function validateLabelSelector(selector: LabelSelector | undefined, path: string): Errors {
  if (!selector) return [];
  return [
    ...validateLabels(selector.matchLabels, child(path, 'matchLabels')),
    ...eachOf(child(path, 'matchExpressions'), selector.matchExpressions, ({ key, operator, values }, at) => {
      const errors: Errors = [];
      const valuesPath = child(at, 'values');
      const count = values?.length ?? 0;
      if (operator === 'In' || operator === 'NotIn') {
        if (count === 0)
          errors.push(required(valuesPath, "must be specified when `operator` is 'In' or 'NotIn'"));
      } else if (operator === 'Exists' || operator === 'DoesNotExist') {
        if (count > 0) {
          errors.push(
            forbidden(valuesPath, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
          );
        }
      } else {
        errors.push(invalid(child(at, 'operator'), operator, 'not a valid selector operator'));
      }
      errors.push(...check(child(at, 'key'), key, isQualifiedName));
      errors.push(...(values ?? []).flatMap((value, i) => check(index(valuesPath, i), value, isLabelValue)));
      return errors;
    }),
  ];
}
