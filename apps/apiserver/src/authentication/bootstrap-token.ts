import { timingSafeEqual } from 'node:crypto';
import { Secrets, type Secret } from '@tinkernetes/api';
import type { Clock } from '@tinkernetes/component-base';
import type { StoreRegistry } from '../contracts';
import type { TokenAuthenticator } from './token-authenticator';

const tokenPattern = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const groupPattern = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;
const secretType = 'bootstrap.kubernetes.io/token';

/**
 * Tokens `ID.SECRET` that new nodes join with, kept in Secrets `kube-system/bootstrap-token-ID`.
 * Source: https://kubernetes.io/docs/reference/access-authn-authz/bootstrap-tokens/
 */
export function createBootstrapTokenAuthenticator(stores: StoreRegistry, clock: Clock): TokenAuthenticator {
  const secrets = stores.for(Secrets);
  return {
    name: 'BootstrapToken',
    authenticateToken: async (token) => {
      const [, id, secret] = tokenPattern.exec(token) ?? [];
      if (!id || !secret) return undefined;
      const stored = secrets.peek(`bootstrap-token-${id}`, 'kube-system');
      if (!stored || !isUsable(stored, { id, secret, now: clock.now() })) return undefined;
      const groups = field(stored, 'auth-extra-groups')
        .split(',')
        .filter((group) => groupPattern.test(group));
      return { user: { name: `system:bootstrap:${id}`, groups: ['system:bootstrappers', ...groups] } };
    },
  };
}

function isUsable(stored: Secret, token: { id: string; secret: string; now: number }): boolean {
  if (stored.type !== secretType || stored.metadata.deletionTimestamp) return false;
  if (field(stored, 'token-id') !== token.id || !sameText(field(stored, 'token-secret'), token.secret))
    return false;
  const expiration = field(stored, 'expiration');
  if (expiration !== '' && !(Date.parse(expiration) > token.now)) return false;
  return field(stored, 'usage-bootstrap-authentication') === 'true';
}

const field = (secret: Secret, key: string): string =>
  Buffer.from(secret.data?.[key] ?? '', 'base64').toString('utf8');

function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
