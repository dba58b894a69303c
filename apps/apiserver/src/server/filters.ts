import type { IncomingMessage } from 'node:http';
import { forbiddenError, StatusError } from '@tinkernetes/apimachinery';
import type { AuthorizationAttributes, Authenticator, Authorizer, RequestInfo, UserInfo } from '../contracts';

export const anonymous: UserInfo = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

const allAuthenticated = 'system:authenticated';

/** Asks each authenticator in turn. Source: k8s.io/apiserver/pkg/endpoints/filters.WithAuthentication. */
export async function authenticate(
  request: IncomingMessage,
  authenticators: readonly Authenticator[],
  anonymousAuth: boolean,
): Promise<UserInfo> {
  for (const authenticator of authenticators) {
    const result = await authenticator.authenticate(request);
    if (result) return withAuthenticatedGroup(result.user);
  }
  if (anonymousAuth) return anonymous;
  throw new StatusError('Unauthorized', 'Unauthorized');
}

function withAuthenticatedGroup(user: UserInfo): UserInfo {
  if (user.groups.includes(allAuthenticated) || user.groups.includes('system:unauthenticated')) return user;
  return { ...user, groups: [...user.groups, allAuthenticated] };
}

export function attributesOf(
  info: RequestInfo,
  user: UserInfo,
  query: URLSearchParams,
): AuthorizationAttributes {
  return {
    user,
    verb: info.verb,
    isResourceRequest: info.isResourceRequest,
    apiGroup: info.apiGroup,
    apiVersion: info.apiVersion,
    resource: info.resource,
    subresource: info.subresource,
    namespace: info.namespace,
    name: info.name,
    path: info.path,
    fieldSelector: query.get('fieldSelector') ?? undefined,
    labelSelector: query.get('labelSelector') ?? undefined,
  };
}

/** Why it is allowed; throws the 403 that upstream answers unless the authorizer allows. */
export async function authorize(
  authorizer: Authorizer,
  attributes: AuthorizationAttributes,
): Promise<string> {
  const { decision, reason } = await authorizer.authorize(attributes);
  if (decision !== 'allow') throw forbiddenResponse(attributes, reason);
  return reason;
}

/** Source: k8s.io/apiserver/pkg/endpoints/handlers/responsewriters.ForbiddenStatusError. */
export function forbiddenResponse(attributes: AuthorizationAttributes, reason: string): StatusError {
  const { user, verb, apiGroup, namespace, name, subresource } = attributes;
  const because = reason ? `: ${reason}` : '';
  if (!attributes.isResourceRequest) {
    const message = `forbidden: User "${user.name}" cannot ${verb} path "${attributes.path}"${because}`;
    return new StatusError('Forbidden', message, { details: {} });
  }
  const resource = subresource ? `${attributes.resource}/${subresource}` : attributes.resource;
  const where = namespace
    ? ` in the namespace "${namespace}"`
    : attributes.resource
      ? ' at the cluster scope'
      : '';
  return forbiddenError(
    { group: apiGroup, resource: attributes.resource },
    name,
    `User "${user.name}" cannot ${verb} resource "${resource}" in API group "${apiGroup}"${where}${because}`,
  );
}
