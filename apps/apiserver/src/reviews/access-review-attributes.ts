import type { NonResourceAttributes, ResourceAttributes } from '@tinkernetes/api';
import type { AuthorizationAttributes, UserInfo } from '../contracts';

/** The question of a review as an authorizer is asked it. Source: k8s.io/kubernetes/pkg/registry/authorization/util. */
export function attributesOfReview(
  user: UserInfo,
  spec: { resourceAttributes?: ResourceAttributes; nonResourceAttributes?: NonResourceAttributes },
): AuthorizationAttributes {
  const { resourceAttributes: resource, nonResourceAttributes: path } = spec;
  return {
    user,
    isResourceRequest: resource !== undefined,
    verb: (resource ?? path)?.verb ?? '',
    apiGroup: resource?.group ?? '',
    apiVersion: resource?.version || '*',
    resource: resource?.resource ?? '',
    subresource: resource?.subresource ?? '',
    namespace: resource?.namespace ?? '',
    name: resource?.name ?? '',
    path: path?.path ?? '',
    fieldSelector: resource?.fieldSelector?.rawSelector,
    labelSelector: resource?.labelSelector?.rawSelector,
  };
}
