import { Nodes, Pods, Secrets, ServiceAccounts, type KubeObject } from '@tinkernetes/api';
import type { Clock } from '@tinkernetes/component-base';
import {
  TokenError,
  type TokenAuthenticator,
  type TokenIdentity,
} from '../authentication/token-authenticator';
import type { ResourceStore, StoreRegistry, UserInfo } from '../contracts';
import { legacyIssuer, serviceAccountGroups, serviceAccountUser } from './claims';
import type { LegacyClaims, ObjectReferenceClaim, ServiceAccountClaims } from './claims';
import { decodeJwt, isSignedBy } from './jwt';
import type { VerificationKey } from './keys';

/** A bound object that is being deleted vouches this much longer, for clocks that differ. */
const deletionLeewayMs = 60_000;

export interface ServiceAccountAuthenticatorOptions {
  keys: readonly VerificationKey[];
  issuer: string;
  apiAudiences: readonly string[];
  stores: StoreRegistry;
  clock: Clock;
}

/**
 * Tokens of service accounts: signed by one of our keys, for an account (and Pod, Secret or Node they are bound to)
 * that still exists. Source: k8s.io/kubernetes/pkg/serviceaccount/{jwt,claims,legacy}.go.
 */
export class ServiceAccountAuthenticator implements TokenAuthenticator {
  readonly name = 'ServiceAccount';

  constructor(private readonly options: ServiceAccountAuthenticatorOptions) {}

  async authenticateToken(token: string, audiences: readonly string[]): Promise<TokenIdentity | undefined> {
    const jwt = decodeJwt(token);
    if (!jwt) return undefined;
    const { keys, issuer } = this.options;
    if (jwt.claims.iss !== issuer && jwt.claims.iss !== legacyIssuer) return undefined;
    if (!keys.some((key) => isSignedBy(jwt, key)))
      throw new TokenError('failed to verify the signature of the token');
    if (jwt.claims.iss === legacyIssuer)
      return this.legacy(token, jwt.claims as unknown as LegacyClaims, audiences);
    return this.bound(jwt.claims as unknown as ServiceAccountClaims, audiences);
  }

  private bound(claims: ServiceAccountClaims, wanted: readonly string[]): TokenIdentity {
    const audiences = this.matchAudiences(claims.aud, wanted);
    const seconds = this.options.clock.now() / 1000;
    if (!(claims.exp > seconds)) throw new TokenError('service account token has expired');
    if (claims.nbf > seconds + 60) throw new TokenError('service account token is not valid yet');
    const { namespace, serviceaccount, pod, secret, node } = claims['kubernetes.io'];
    const { stores } = this.options;
    this.mustExist(stores.for(ServiceAccounts), 'service account', namespace, serviceaccount);
    if (secret) this.mustExist(stores.for(Secrets), 'secret', namespace, secret);
    if (pod) this.mustExist(stores.for(Pods), 'pod', namespace, pod);
    // A Pod's token only names the Pod's node; a token bound to a node lives as long as the node.
    if (node && !pod)
      this.mustExist(stores.for(Nodes), 'node', undefined, { name: node.name, uid: node.uid ?? '' });
    return { user: boundUser(claims), audiences };
  }

  private legacy(token: string, claims: LegacyClaims, wanted: readonly string[]): TokenIdentity {
    const audiences = this.matchAudiences(this.options.apiAudiences, wanted);
    const namespace = claims['kubernetes.io/serviceaccount/namespace'];
    const name = claims['kubernetes.io/serviceaccount/service-account.name'];
    const uid = claims['kubernetes.io/serviceaccount/service-account.uid'];
    const { stores } = this.options;
    const secret = stores.for(Secrets).peek(claims['kubernetes.io/serviceaccount/secret.name'], namespace);
    if (!secret || secret.metadata.deletionTimestamp)
      throw new TokenError('service account token has been invalidated');
    if (Buffer.from(secret.data?.token ?? '', 'base64').toString('utf8') !== token) {
      throw new TokenError("service account token does not match server's copy");
    }
    this.mustExist(stores.for(ServiceAccounts), 'service account', namespace, { name, uid });
    return {
      user: { name: serviceAccountUser(namespace, name), uid, groups: serviceAccountGroups(namespace) },
      audiences,
    };
  }

  private matchAudiences(given: readonly string[], wanted: readonly string[]): readonly string[] {
    const list = Array.isArray(given) ? given : [given];
    const both = list.filter((audience) => wanted.includes(audience));
    if (both.length > 0) return both;
    throw new TokenError(
      `token audiences ${JSON.stringify(list)} is invalid for the target audiences ${JSON.stringify(wanted)}`,
    );
  }

  private mustExist<T extends KubeObject>(
    store: ResourceStore<T>,
    what: string,
    namespace: string | undefined,
    claim: ObjectReferenceClaim,
  ): void {
    const object = store.peek(claim.name, namespace);
    const deleted = object?.metadata.deletionTimestamp;
    const gone = deleted !== undefined && Date.parse(deleted) < this.options.clock.now() - deletionLeewayMs;
    if (!object || gone) throw new TokenError(`${what} ${claim.name} has been deleted`);
    if (object.metadata.uid !== claim.uid) {
      throw new TokenError(`${what} UID (${object.metadata.uid ?? ''}) does not match claim (${claim.uid})`);
    }
  }
}

function boundUser(claims: ServiceAccountClaims): UserInfo {
  const { namespace, serviceaccount, pod, node } = claims['kubernetes.io'];
  const extra: Record<string, string[]> = {};
  if (claims.jti) extra['authentication.kubernetes.io/credential-id'] = [`JTI=${claims.jti}`];
  if (pod) {
    extra['authentication.kubernetes.io/pod-name'] = [pod.name];
    extra['authentication.kubernetes.io/pod-uid'] = [pod.uid];
  }
  if (node) {
    extra['authentication.kubernetes.io/node-name'] = [node.name];
    if (node.uid) extra['authentication.kubernetes.io/node-uid'] = [node.uid];
  }
  return {
    name: serviceAccountUser(namespace, serviceaccount.name),
    uid: serviceaccount.uid,
    groups: serviceAccountGroups(namespace),
    extra,
  };
}
