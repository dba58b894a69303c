import type { IncomingMessage } from 'node:http';
import type { UserInfo } from './request';

/** undefined: not my kind of credential, ask the next. A throw of StatusError('Unauthorized') ends the chain. */
export interface Authenticator {
  readonly name: string;
  authenticate(
    request: IncomingMessage,
  ): Promise<{ user: UserInfo; audiences?: readonly string[] } | undefined>;
}

export interface AuthorizationAttributes {
  readonly user: UserInfo;
  readonly verb: string;
  readonly isResourceRequest: boolean;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly path: string;
  /** Selectors of list/watch/deletecollection requests, for authorizers that look at them. */
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}
export type Decision = 'allow' | 'deny' | 'no-opinion';
export interface AuthorizationResult {
  decision: Decision;
  /** Why, e.g. `RBAC: allowed by ClusterRoleBinding "cluster-admin" of ClusterRole "cluster-admin" to Group "system:masters"`. */
  reason: string;
}
export interface Authorizer {
  readonly name: string;
  authorize(attributes: AuthorizationAttributes): Promise<AuthorizationResult> | AuthorizationResult;
}
