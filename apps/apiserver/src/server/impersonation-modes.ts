import { isDns1123Subdomain, StatusError } from '@tinkernetes/apimachinery';
import { LruMap } from '@tinkernetes/component-base';
import type { AuthorizationAttributes, Authorizer, UserInfo } from '../contracts';
import { forbiddenResponse } from './filters';

/** Whom somebody wants to be. */
export interface WantedUser {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** One way to be allowed to be somebody else. */
interface Mode {
  readonly verb: string;
  /** Undefined: this is the way of old, which does not look at what the request does. */
  readonly constraint?: string;
  appliesTo(wanted: WantedUser, requestor: UserInfo): boolean;
}

const nodeKey = 'authentication.kubernetes.io/node-name';
const isNameOnly = ({ uid, groups, extra }: WantedUser): boolean =>
  uid === '' && groups.length === 0 && Object.keys(extra).length === 0;
const constrained = (constraint: string, appliesTo: Mode['appliesTo']): Mode => ({
  constraint,
  verb: `impersonate:${constraint}`,
  appliesTo,
});

const modes: readonly Mode[] = [
  constrained(
    'associated-node',
    (wanted, requestor) =>
      isNameOnly(wanted) &&
      serviceAccountOf(requestor.name) !== undefined &&
      nodeOf(wanted.name) !== undefined &&
      requestor.extra?.[nodeKey]?.length === 1 &&
      requestor.extra[nodeKey][0] === nodeOf(wanted.name),
  ),
  constrained('arbitrary-node', (wanted) => isNameOnly(wanted) && nodeOf(wanted.name) !== undefined),
  constrained(
    'serviceaccount',
    (wanted) => isNameOnly(wanted) && serviceAccountOf(wanted.name) !== undefined,
  ),
  constrained('user-info', ({ name }) => nodeOf(name) === undefined && serviceAccountOf(name) === undefined),
  { verb: 'impersonate', appliesTo: () => true },
];

const rememberedUsers = 10_000;

/** Asks whether a user may be another, in one way after the other. Source: k8s.io/apiserver/pkg/endpoints/filters/impersonation. */
export class ImpersonationModes {
  /** The way that was open to a user last time is tried first, and what it says is told if no other is open. */
  private readonly lastModes = new LruMap<string, Mode>(rememberedUsers);

  constructor(private readonly authorizer: Authorizer) {}

  async become(
    wanted: WantedUser,
    requestor: UserInfo,
    attributes: AuthorizationAttributes,
  ): Promise<UserInfo> {
    const last = this.lastModes.get(requestor.name);
    const ordered = last ? [last, ...modes.filter((mode) => mode !== last)] : modes;
    let firstError: unknown;
    for (const mode of ordered) {
      if (!mode.appliesTo(wanted, requestor)) continue;
      try {
        await this.check(mode, wanted, attributes);
        this.lastModes.set(requestor.name, mode);
        return impersonated(wanted, mode);
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
        firstError ??= error;
      }
    }
    throw firstError;
  }

  private async check(mode: Mode, wanted: WantedUser, request: AuthorizationAttributes): Promise<void> {
    const { user } = request;
    if (mode.constraint !== undefined) {
      await this.authorize({ ...request, verb: `impersonate-on:${mode.constraint}:${request.verb}` });
    }
    for (const subject of subjects(wanted, mode)) {
      await this.authorize({
        user,
        verb: mode.verb,
        isResourceRequest: true,
        apiVersion: 'v1',
        path: '',
        ...subject,
      });
    }
    if (mode.constraint !== undefined && wanted.groups.includes('system:masters')) {
      const attributes = { ...groupOf(mode, 'system:masters'), user, verb: mode.verb };
      throw forbiddenResponse(
        { isResourceRequest: true, apiVersion: 'v1', path: '', ...attributes },
        'impersonating the system:masters group is not allowed',
      );
    }
  }

  private async authorize(attributes: AuthorizationAttributes): Promise<void> {
    const { decision, reason } = await this.authorizer.authorize(attributes);
    if (decision !== 'allow') throw forbiddenResponse(attributes, reason);
  }
}

interface Subject {
  readonly apiGroup: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
}

const authenticationGroup = 'authentication.k8s.io';
const subject = (apiGroup: string, resource: string, name: string): Subject => ({
  apiGroup,
  resource,
  namespace: '',
  name,
  subresource: '',
});
const groupOf = (mode: Mode, name: string): Subject => subject(ownGroup(mode), 'groups', name);
const ownGroup = ({ constraint }: Mode): string => (constraint === undefined ? '' : authenticationGroup);

/** What has to be allowed, one after the other. */
function* subjects({ name, uid, groups, extra }: WantedUser, mode: Mode): Iterable<Subject> {
  const account = serviceAccountOf(name);
  const node = mode.constraint === undefined ? undefined : nodeOf(name);
  if (account) {
    yield { ...subject(ownGroup(mode), 'serviceaccounts', account.name), namespace: account.namespace };
  } else if (node !== undefined) {
    // Of its own node nobody needs the name.
    yield subject(ownGroup(mode), 'nodes', mode.constraint === 'associated-node' ? '*' : node);
  } else yield subject(ownGroup(mode), 'users', name);
  if (uid !== '') yield subject(authenticationGroup, 'uids', uid);
  for (const group of groups) yield groupOf(mode, group);
  for (const [key, values] of Object.entries(extra)) {
    for (const value of values) {
      yield { ...subject(authenticationGroup, 'userextras', value), subresource: key };
    }
  }
}

function serviceAccountOf(name: string): { namespace: string; name: string } | undefined {
  const [, namespace, account] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name) ?? [];
  return namespace && account ? { namespace, name: account } : undefined;
}

function nodeOf(name: string): string | undefined {
  const [, node] = /^system:node:(.+)$/.exec(name) ?? [];
  return node !== undefined && isDns1123Subdomain(node).length === 0 ? node : undefined;
}

function impersonated({ name, uid, groups, extra }: WantedUser, mode: Mode): UserInfo {
  const account = serviceAccountOf(name);
  const all = new Set(groups);
  if (account && groups.length === 0) {
    all.add('system:serviceaccounts').add(`system:serviceaccounts:${account.namespace}`);
  }
  if (mode.constraint !== undefined && nodeOf(name) !== undefined) all.add('system:nodes');
  if (name === 'system:anonymous') all.add('system:unauthenticated');
  else if (!all.has('system:unauthenticated')) all.add('system:authenticated');
  return { name, ...(uid ? { uid } : undefined), groups: [...all], extra };
}
