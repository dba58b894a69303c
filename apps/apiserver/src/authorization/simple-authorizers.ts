import type { Authorizer } from '../contracts';

/** Members of system:masters may do all, whatever the other authorizers say; upstream gives no reason. */
export const privilegedGroupAuthorizer: Authorizer = {
  name: 'PrivilegedGroup',
  authorize: ({ user }) =>
    user.groups.includes('system:masters')
      ? { decision: 'allow', reason: '' }
      : { decision: 'no-opinion', reason: '' },
};

export const alwaysAllowAuthorizer: Authorizer = {
  name: 'AlwaysAllow',
  authorize: () => ({ decision: 'allow', reason: '' }),
};

export const alwaysDenyAuthorizer: Authorizer = {
  name: 'AlwaysDeny',
  authorize: () => ({ decision: 'no-opinion', reason: 'Everything is forbidden.' }),
};

/** Asks each in turn until one allows or denies. Source: k8s.io/apiserver/pkg/authorization/union. */
export function unionAuthorizer(authorizers: readonly Authorizer[]): Authorizer {
  return {
    name: 'union',
    authorize: async (attributes) => {
      const reasons: string[] = [];
      for (const authorizer of authorizers) {
        const result = await authorizer.authorize(attributes);
        if (result.decision !== 'no-opinion') return result;
        if (result.reason !== '') reasons.push(result.reason);
      }
      return { decision: 'no-opinion', reason: reasons.join('\n') };
    },
  };
}
