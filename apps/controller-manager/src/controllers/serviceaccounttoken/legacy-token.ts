import { createHash, createPublicKey, sign, type KeyObject } from 'node:crypto';
import type { Secret, ServiceAccount } from '@tinkernetes/api';

export const secretType = 'kubernetes.io/service-account-token';
export const accountName = 'kubernetes.io/service-account.name';
export const accountUid = 'kubernetes.io/service-account.uid';

/**
 * A token without an end, which is good as long as its Secret has it.
 * Source: k8s.io/kubernetes/pkg/serviceaccount/legacy.go.
 */
export function legacyToken(key: KeyObject, account: ServiceAccount, secret: Secret): string {
  const { name, namespace = '', uid = '' } = account.metadata;
  const claims = {
    iss: 'kubernetes/serviceaccount',
    'kubernetes.io/serviceaccount/namespace': namespace,
    'kubernetes.io/serviceaccount/secret.name': secret.metadata.name,
    'kubernetes.io/serviceaccount/service-account.name': name,
    'kubernetes.io/serviceaccount/service-account.uid': uid,
    sub: `system:serviceaccount:${namespace}:${name}`,
  };
  const header = { alg: key.asymmetricKeyType === 'ec' ? 'ES256' : 'RS256', kid: keyIdOf(key) };
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const content = `${encode(header)}.${encode(claims)}`;
  const signature = sign('sha256', Buffer.from(content), { key, dsaEncoding: 'ieee-p1363' });
  return `${content}.${signature.toString('base64url')}`;
}

function keyIdOf(key: KeyObject): string {
  const der = createPublicKey(key).export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(der).digest('base64url');
}

/** Whether the Secret asks for a token of this account: by name, and by uid where it says one. */
export function isTokenOf(secret: Secret, account: ServiceAccount): boolean {
  const { annotations = {}, namespace } = secret.metadata;
  const uid = annotations[accountUid];
  return (
    secret.type === secretType &&
    namespace === account.metadata.namespace &&
    annotations[accountName] === account.metadata.name &&
    (!uid || uid === account.metadata.uid)
  );
}
