import type { IncomingMessage } from 'node:http';
import { badRequest } from '@tinkernetes/apimachinery';
import type { AuthorizationAttributes, Authorizer, UserInfo } from '../contracts';
import { forbiddenResponse } from './filters';

const extraPrefix = 'impersonate-extra-';
const serviceAccountPrefix = 'system:serviceaccount:';

interface Subject {
  apiGroup: string;
  resource: string;
  namespace: string;
  name: string;
  subresource: string;
}

const list = (value: string | string[] | undefined): string[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];

/** All values of a header: Node joins repeated ones with a comma, which a group name may hold. */
function rawValues(request: IncomingMessage, name: string): string[] {
  const out: string[] = [];
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    if (request.rawHeaders[i]?.toLowerCase() === name) out.push(request.rawHeaders[i + 1] ?? '');
  }
  return out;
}

/**
 * The user that the Impersonate-* headers ask to be, if `user` may. Source:
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation
 */
export async function impersonate(
  request: IncomingMessage,
  user: UserInfo,
  authorizer: Authorizer,
): Promise<UserInfo | undefined> {
  const names = list(request.headers['impersonate-user']);
  const groups = rawValues(request, 'impersonate-group');
  const uids = list(request.headers['impersonate-uid']);
  const extraHeaders = Object.keys(request.headers).filter((h) => h.startsWith(extraPrefix));
  const name = names[0] ?? '';
  if (!name) {
    if (groups.length || uids.length || extraHeaders.length) {
      throw badRequest(
        `requested ${goUser({ groups, uid: uids[0], extra: extraOf(request, extraHeaders) })} without impersonating a user name`,
      );
    }
    return undefined;
  }
  const extra = extraOf(request, extraHeaders);
  for (const subject of subjects(name, groups, uids, extra)) await mayImpersonate(subject, user, authorizer);
  return impersonated(name, groups, uids[0], extra);
}

function extraOf(request: IncomingMessage, headers: readonly string[]): Record<string, string[]> {
  return Object.fromEntries(
    headers.map((h) => [unescaped(h.slice(extraPrefix.length)), rawValues(request, h)]),
  );
}

/** As upstream, a key whose escapes are broken is taken as it came. */
function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch (error) {
    if (error instanceof URIError) return key;
    throw error;
  }
}

/** As Go's %#v prints the user that was asked for. */
function goUser(asked: { groups: readonly string[]; uid?: string; extra: Record<string, string[]> }): string {
  const strings = (values: readonly string[]) =>
    `[]string{${values.map((v) => JSON.stringify(v)).join(', ')}}`;
  const groups = asked.groups.length ? strings(asked.groups) : '[]string(nil)';
  const entries = Object.entries(asked.extra).map(
    ([key, values]) => `${JSON.stringify(key)}:${strings(values)}`,
  );
  const extra = entries.length ? `map[string][]string{${entries.join(', ')}}` : 'map[string][]string(nil)';
  return `&user.DefaultInfo{Name:"", UID:"${asked.uid ?? ''}", Groups:${groups}, Extra:${extra}}`;
}

function* subjects(
  name: string,
  groups: readonly string[],
  uids: readonly string[],
  extra: Readonly<Record<string, readonly string[]>>,
): Iterable<Subject> {
  const account = serviceAccountOf(name);
  const subject = (resource: string, value: string, more: Partial<Subject> = {}): Subject => ({
    apiGroup: '',
    resource,
    namespace: '',
    name: value,
    subresource: '',
    ...more,
  });
  if (account) yield subject('serviceaccounts', account.name, { namespace: account.namespace });
  else yield subject('users', name);
  for (const group of groups) yield subject('groups', group);
  const authentication = { apiGroup: 'authentication.k8s.io' };
  for (const [key, values] of Object.entries(extra)) {
    for (const value of values) yield subject('userextras', value, { ...authentication, subresource: key });
  }
  for (const uid of uids) yield subject('uids', uid, authentication);
}

async function mayImpersonate(subject: Subject, user: UserInfo, authorizer: Authorizer): Promise<void> {
  const attributes: AuthorizationAttributes = {
    user,
    verb: 'impersonate',
    isResourceRequest: true,
    apiVersion: 'v1',
    path: '',
    ...subject,
  };
  const { decision, reason } = await authorizer.authorize(attributes);
  if (decision !== 'allow') throw forbiddenResponse(attributes, reason);
}

function serviceAccountOf(name: string): { namespace: string; name: string } | undefined {
  if (!name.startsWith(serviceAccountPrefix)) return undefined;
  const [namespace, account, ...rest] = name.slice(serviceAccountPrefix.length).split(':');
  return namespace && account && rest.length === 0 ? { namespace, name: account } : undefined;
}

function impersonated(
  name: string,
  groups: readonly string[],
  uid: string | undefined,
  extra: Readonly<Record<string, readonly string[]>>,
): UserInfo {
  const account = serviceAccountOf(name);
  const all = new Set(groups);
  if (account && groups.length === 0) {
    all.add('system:serviceaccounts').add(`system:serviceaccounts:${account.namespace}`);
  }
  if (name !== 'system:anonymous' && !all.has('system:unauthenticated')) all.add('system:authenticated');
  else if (name === 'system:anonymous') all.add('system:unauthenticated');
  return { name, ...(uid ? { uid } : undefined), groups: [...all], extra };
}
