import type { UserInfo as ApiUserInfo } from '@tinkernetes/api';
import type { UserInfo } from '../contracts';

const group = 'system:authenticated';

/** The user as a request of his would have him. */
export const authenticated = (user: UserInfo): UserInfo =>
  user.groups.includes(group) ? user : { ...user, groups: [...user.groups, group] };

/** authentication.k8s.io/v1 UserInfo: empty fields are left out. */
export const userInfo = ({ name, uid, groups, extra }: UserInfo): ApiUserInfo => ({
  ...(name && { username: name }),
  ...(uid && { uid }),
  ...(groups.length > 0 && { groups: [...groups] }),
  ...(extra && Object.keys(extra).length > 0 && { extra: copyOf(extra) }),
});

const copyOf = (extra: NonNullable<UserInfo['extra']>): Record<string, string[]> =>
  Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]));
