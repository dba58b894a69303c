import type { AdmissionAttributes } from '../contracts';
import { forbiddenError, type StatusError } from '@tinkernetes/apimachinery';

/** The 403 of an admission plugin. Source: k8s.io/apiserver/pkg/admission.NewForbidden. */
export const notAdmitted = (attributes: AdmissionAttributes, reason: string): StatusError =>
  forbiddenError(attributes, attributes.name, reason);

/**
 * As `notAdmitted`, from a mutating plugin: at that point upstream has not generated the name yet, so an object with
 * `generateName` is known by that.
 */
export function notAdmittedYet(attributes: AdmissionAttributes, reason: string): StatusError {
  const { name, object } = attributes;
  const base = object?.metadata.generateName;
  const isGenerated =
    base !== undefined && name.startsWith(base) && name.length === base.length + suffixLength;
  return forbiddenError(attributes, isGenerated ? base : name, reason);
}
const suffixLength = 5;

/** Whether the request is about the resource itself (`''`) or the given subresource of it. */
export const concerns = (
  { group, resource, subresource }: AdmissionAttributes,
  target: { group?: string; resource: string; subresource?: string },
): boolean =>
  resource === target.resource &&
  group === (target.group ?? '') &&
  subresource === (target.subresource ?? '');
