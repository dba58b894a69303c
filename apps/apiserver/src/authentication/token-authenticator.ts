import type { UserInfo } from '../contracts';

/** Who a token stands for, and for which of the audiences asked about it was made. */
export interface TokenIdentity {
  readonly user: UserInfo;
  /** undefined: the token is good for any audience. */
  readonly audiences?: readonly string[];
}

/** A token that is mine but no good: expired, revoked, for somebody else. The message is for TokenReview's `status.error`. */
export class TokenError extends Error {
  override readonly name = 'TokenError';
}

/**
 * One kind of bearer token. undefined: not mine, ask the next. Throws TokenError when it is mine and invalid.
 * Source: k8s.io/apiserver/pkg/authentication/authenticator.Token.
 */
export interface TokenAuthenticator {
  readonly name: string;
  authenticateToken(token: string, audiences: readonly string[]): Promise<TokenIdentity | undefined>;
}
