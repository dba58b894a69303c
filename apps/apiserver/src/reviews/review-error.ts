import { invalidError, type FieldErrors, type StatusError } from '@tinkernetes/apimachinery';

/** Reviews are refused without the name of their kind, as upstream's are. */
export const invalidReview = (group: string, errors: FieldErrors): StatusError =>
  invalidError({ group, kind: '' }, '', errors);

/** A spec that was not sent is there all the same, empty, as Go's structs are. */
export const withSpec = <R extends { spec: object }>(review: R): R => ({
  ...review,
  spec: (review.spec as R['spec'] | undefined) ?? {},
});
