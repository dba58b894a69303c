import { invalidError, type FieldErrors, type StatusError } from '@tinkernetes/apimachinery';

/** Reviews are refused without the name of their kind, as upstream's are. */
export const invalidReview = (group: string, errors: FieldErrors): StatusError =>
  invalidError({ group, kind: '' }, '', errors);
