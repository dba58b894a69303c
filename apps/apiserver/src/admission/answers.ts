import type { AdmissionAttributes } from '../contracts';
import { forbiddenError, type StatusError } from '@tinkernetes/apimachinery';

/** The 403 of an admission plugin. Source: k8s.io/apiserver/pkg/admission.NewForbidden. */
export const notAdmitted = (attributes: AdmissionAttributes, reason: string): StatusError =>
  forbiddenError(attributes, attributes.name, reason);

/** Whether the request is about the resource itself (`''`) or the given subresource of it. */
export const concerns = (
  { group, resource, subresource }: AdmissionAttributes,
  target: { group?: string; resource: string; subresource?: string },
): boolean =>
  resource === target.resource &&
  group === (target.group ?? '') &&
  subresource === (target.subresource ?? '');
