import type { KubeObject, ServiceAccount } from '@tinkernetes/api';
import type { Clock, Random } from '@tinkernetes/component-base';
import { serviceAccountUser, type ServiceAccountClaims } from './claims';
import { signJwt } from './jwt';
import type { SigningKey } from './keys';

/** What the ServiceAccount admission plugin asks for: tokens that clients older than v1.21 never refresh. */
export const warnOnlyExpirationSeconds = 60 * 60 + 7;
const extendedExpirationSeconds = 365 * 24 * 3600;

export interface TokenOptions {
  account: ServiceAccount;
  audiences: readonly string[];
  expirationSeconds: number;
  /** What the token is bound to. */
  pod?: KubeObject;
  secret?: KubeObject;
  node?: { name: string; uid?: string };
}

export interface TokenIssuerOptions {
  key: SigningKey;
  issuer: string;
  apiAudiences: readonly string[];
  clock: Clock;
  random: Random;
}

/** Signs service-account tokens. Source: k8s.io/kubernetes/pkg/serviceaccount.Claims, KEP-1205, KEP-4193. */
export class TokenIssuer {
  constructor(private readonly options: TokenIssuerOptions) {}

  issue(options: TokenOptions): { token: string; expirationMs: number } {
    const { issuer, clock, random, key } = this.options;
    const now = Math.floor(clock.now() / 1000);
    const extended = this.isExtended(options);
    const lifetime = extended ? extendedExpirationSeconds : options.expirationSeconds;
    const { name = '', namespace = '', uid = '' } = options.account.metadata;
    const claims: ServiceAccountClaims = {
      aud: [...options.audiences],
      exp: now + lifetime,
      iat: now,
      iss: issuer,
      jti: random.uid(),
      'kubernetes.io': {
        namespace,
        ...(options.node && { node: options.node }),
        ...(options.pod && { pod: referenceTo(options.pod) }),
        ...(options.secret && { secret: referenceTo(options.secret) }),
        serviceaccount: { name, uid },
        ...(extended && { warnafter: now + options.expirationSeconds }),
      },
      nbf: now,
      sub: serviceAccountUser(namespace, name),
    };
    // The answer names the time that was asked for, so that clients refresh even an extended token in time.
    return { token: signJwt(claims, key), expirationMs: (now + options.expirationSeconds) * 1000 };
  }

  private isExtended({ pod, expirationSeconds, audiences }: TokenOptions): boolean {
    const forUs = audiences.every((audience) => this.options.apiAudiences.includes(audience));
    return pod !== undefined && expirationSeconds === warnOnlyExpirationSeconds && forUs;
  }
}

const referenceTo = ({ metadata: { name = '', uid = '' } }: KubeObject) => ({ name, uid });
