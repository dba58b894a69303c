import type { IncomingMessage } from 'node:http';
import { unauthorized } from '@tinkernetes/apimachinery';
import { LruMap, type Clock } from '@tinkernetes/component-base';
import type { Authenticator } from '../contracts';
import { TokenError, type TokenAuthenticator, type TokenIdentity } from './token-authenticator';

/** Browsers can't set headers on WebSockets: the token may come as a subprotocol. */
const protocolPrefix = 'base64url.bearer.authorization.k8s.io.';

/** As upstream's `tokenSuccessCacheTTL`; failures are not remembered. */
const cacheTtlMs = 10_000;
const cacheSize = 4096;

export const invalidToken = 'invalid bearer token';

export interface BearerOptions {
  tokens: readonly TokenAuthenticator[];
  audiences: readonly string[];
  clock: Clock;
}

/** `Authorization: Bearer TOKEN`, asked of each kind of token in turn; verified tokens are remembered for a while. */
export class BearerAuthenticator implements Authenticator {
  readonly name = 'Bearer';
  private readonly verified = new LruMap<string, { identity: TokenIdentity; until: number }>(cacheSize);

  constructor(private readonly options: BearerOptions) {}

  get audiences(): readonly string[] {
    return this.options.audiences;
  }

  async authenticate(request: IncomingMessage): Promise<TokenIdentity | undefined> {
    const token = bearerToken(request);
    if (token === undefined) return undefined;
    try {
      return await this.authenticateToken(token, this.options.audiences);
    } catch (error) {
      if (error instanceof TokenError) throw unauthorized();
      throw error;
    }
  }

  /** Throws TokenError when no one vouches for the token. */
  async authenticateToken(token: string, audiences: readonly string[]): Promise<TokenIdentity> {
    const key = `${audiences.join(' ')} ${token}`;
    const now = this.options.clock.now();
    const known = this.verified.get(key);
    if (known && known.until > now) return known.identity;
    const identity = await this.verify(token, audiences);
    this.verified.set(key, { identity, until: now + cacheTtlMs });
    return identity;
  }

  private async verify(token: string, audiences: readonly string[]): Promise<TokenIdentity> {
    const errors: string[] = [];
    for (const kind of this.options.tokens) {
      try {
        const identity = await kind.authenticateToken(token, audiences);
        if (identity) return identity;
      } catch (error) {
        if (!(error instanceof TokenError)) throw error;
        errors.push(error.message);
      }
    }
    const reasons = errors.length > 1 ? `[${errors.join(', ')}]` : errors[0];
    throw new TokenError(reasons === undefined ? invalidToken : `[${invalidToken}, ${reasons}]`);
  }
}

/** undefined: the request carries none. Source: k8s.io/apiserver/pkg/authentication/request/{bearertoken,websocket}. */
export function bearerToken(request: IncomingMessage): string | undefined {
  const header = request.headers.authorization?.trim();
  if (header) {
    const [scheme, token] = header.split(/ +/, 2);
    return scheme?.toLowerCase() === 'bearer' && token ? token : undefined;
  }
  const protocols = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((p) => p.trim());
  const carrier = protocols.find((p) => p.startsWith(protocolPrefix));
  return carrier && Buffer.from(carrier.slice(protocolPrefix.length), 'base64url').toString('utf8');
}
