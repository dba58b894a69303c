import type { PodTemplateSpec } from '@tinkernetes/api';
import { forbidden, notSupported } from '@tinkernetes/apimachinery';
import type { Errors } from '../rules';

/** Pods of these workloads run until they are told to stop. */
export function onlyAlways(template: PodTemplateSpec | undefined, kind = 'ReplicaSet'): Errors {
  const errors: Errors = [];
  const policy = template?.spec?.restartPolicy;
  if (policy && policy !== 'Always') {
    errors.push(notSupported('spec.template.spec.restartPolicy', policy, ['Always']));
  }
  if (template?.spec?.activeDeadlineSeconds !== undefined) {
    errors.push(
      forbidden(
        'spec.template.spec.activeDeadlineSeconds',
        `activeDeadlineSeconds in ${kind} is not Supported`,
      ),
    );
  }
  return errors;
}
