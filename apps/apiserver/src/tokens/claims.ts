/** Claims of a service-account token that the API server issues. Source: k8s.io/kubernetes/pkg/serviceaccount/claims.go. */
export interface ServiceAccountClaims {
  iss: string;
  sub: string;
  aud: string[];
  iat: number;
  nbf: number;
  exp: number;
  jti: string;
  'kubernetes.io': {
    namespace: string;
    serviceaccount: ObjectReferenceClaim;
    pod?: ObjectReferenceClaim;
    secret?: ObjectReferenceClaim;
    node?: { name: string; uid?: string };
    /** Seconds since the epoch from when use is reported, for tokens kept valid longer than asked for. */
    warnafter?: number;
  };
}
export interface ObjectReferenceClaim {
  name: string;
  uid: string;
}

/** Claims of tokens kept in Secrets of type kubernetes.io/service-account-token. */
export interface LegacyClaims {
  iss: 'kubernetes/serviceaccount';
  sub: string;
  'kubernetes.io/serviceaccount/namespace': string;
  'kubernetes.io/serviceaccount/secret.name': string;
  'kubernetes.io/serviceaccount/service-account.name': string;
  'kubernetes.io/serviceaccount/service-account.uid': string;
}

export const legacyIssuer = 'kubernetes/serviceaccount';

export const serviceAccountUser = (namespace: string, name: string): string =>
  `system:serviceaccount:${namespace}:${name}`;

export const serviceAccountGroups = (namespace: string): string[] => [
  'system:serviceaccounts',
  `system:serviceaccounts:${namespace}`,
];
