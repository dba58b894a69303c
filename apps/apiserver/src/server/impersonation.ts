import type { IncomingMessage } from 'node:http';
import { badRequest } from '@tinkernetes/apimachinery';
import type { AuthorizationAttributes, Authorizer, UserInfo } from '../contracts';
import { ImpersonationModes, type WantedUser } from './impersonation-modes';

const extraPrefix = 'impersonate-extra-';

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

/** What `createImpersonation` is asked: who wants to be somebody else, for what. */
export interface ImpersonationRequest {
  readonly raw: IncomingMessage;
  readonly user: UserInfo;
  /** What the request itself does. */
  attributes(): AuthorizationAttributes;
}

/**
 * Tells the user that the Impersonate-* headers ask to be, if `user` may. Source:
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation
 */
export function createImpersonation(
  authorizer: Authorizer,
): (request: ImpersonationRequest) => Promise<UserInfo | undefined> {
  const modes = new ImpersonationModes(authorizer);
  return async ({ raw, user, attributes }) => {
    const wanted = wantedUser(raw);
    return wanted && modes.become(wanted, user, attributes());
  };
}

function wantedUser(request: IncomingMessage): WantedUser | undefined {
  const [name = ''] = list(request.headers['impersonate-user']);
  const groups = rawValues(request, 'impersonate-group');
  const [uid = ''] = list(request.headers['impersonate-uid']);
  const extraHeaders = Object.keys(request.headers).filter((h) => h.startsWith(extraPrefix));
  const extra = extraOf(request, extraHeaders);
  if (name) return { name, uid, groups, extra };
  if (groups.length === 0 && uid === '' && extraHeaders.length === 0) return undefined;
  throw badRequest(`requested ${goUser({ groups, uid, extra })} without impersonating a user name`);
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
