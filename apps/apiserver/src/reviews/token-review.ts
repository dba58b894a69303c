import type { TokenReview } from '@tinkernetes/api';
import { badRequest } from '@tinkernetes/apimachinery';
import { BearerAuthenticator, invalidToken } from '../authentication/bearer';
import { TokenError } from '../authentication/token-authenticator';
import type { HandlerDependencies, SubresourceHandler } from '../contracts';
import { authenticated, userInfo } from './user-info';

/** Whose token is this? https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-review-v1/ */
export function createTokenReview({ io, authenticators, options }: HandlerDependencies): SubresourceHandler {
  const bearer = authenticators.find((a): a is BearerAuthenticator => a instanceof BearerAuthenticator);
  return async (request) => {
    const kind = { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenReview' };
    const review = (await io.readObject(request, kind)) as TokenReview;
    const { token, audiences: asked = [] } = review.spec ?? {};
    if (!token) throw badRequest('token is required for TokenReview in authentication');
    const status = await reviewed(token, asked.length > 0 ? asked : options.apiAudiences);
    io.respond(request, 201, { ...review, status });
  };

  async function reviewed(token: string, audiences: readonly string[]): Promise<object> {
    if (!bearer) return { user: {}, error: invalidToken };
    try {
      const { user, audiences: matched = audiences } = await bearer.authenticateToken(token, audiences);
      return { authenticated: true, user: userInfo(authenticated(user)), audiences: matched };
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
      return { user: {}, error: error.message };
    }
  }
}
