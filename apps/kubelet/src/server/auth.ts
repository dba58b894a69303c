import {
  SubjectAccessReviews,
  TokenReviews,
  type SubjectAccessReview,
  type TokenReview,
} from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';
import { LruMap, type Clock } from '@tinkernetes/component-base';
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { HttpError } from './http-error';

interface User {
  name: string;
  uid?: string;
  groups: readonly string[];
  extra?: Record<string, string[]>;
}

/** How long answers of the API server are kept. Source: KubeletConfiguration authentication and authorization webhook. */
const tokenTTLMs = 120_000;
const allowedTTLMs = 300_000;
const deniedTTLMs = 30_000;
const maxCached = 1000;

/** Client certificates, else TokenReview; then SubjectAccessReview on `nodes`. Nobody gets in anonymously. */
export class KubeletAuth {
  private readonly tokens = new LruMap<string, { user: User | undefined; until: number }>(maxCached);
  private readonly decisions = new LruMap<string, { allowed: boolean; until: number }>(maxCached);

  constructor(
    private readonly client: Client,
    private readonly nodeName: string,
    private readonly clock: Clock,
  ) {}

  /** Throws HttpError 401 or 403. */
  async check(request: IncomingMessage, path: string, socket: TLSSocket): Promise<void> {
    const user = certificateUser(socket) ?? (await this.tokenUser(request));
    if (!user) throw new HttpError(401, 'Unauthorized');
    const verb = verbOf(request.method ?? 'GET');
    const subresources = subresourcesOf(path);
    for (const subresource of subresources) if (await this.isAllowed(user, verb, subresource)) return;
    const last = subresources[subresources.length - 1] ?? 'proxy';
    throw new HttpError(
      403,
      `Forbidden (user=${user.name}, verb=${verb}, resource=nodes, subresource(s)=[${last}])`,
    );
  }

  private async tokenUser(request: IncomingMessage): Promise<User | undefined> {
    const token = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1];
    if (!token) return undefined;
    const known = this.tokens.get(token);
    const now = this.clock.monotonic();
    if (known && known.until > now) return known.user;
    const review = await this.client.request<TokenReview>({
      method: 'POST',
      path: `/apis/${TokenReviews.group}/${TokenReviews.version}/${TokenReviews.resource}`,
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } },
    });
    const reviewed = review.status?.authenticated ? review.status.user : undefined;
    const user = reviewed && {
      name: reviewed.username ?? '',
      uid: reviewed.uid,
      groups: reviewed.groups ?? [],
      extra: reviewed.extra as Record<string, string[]> | undefined,
    };
    this.tokens.set(token, { user, until: now + tokenTTLMs });
    return user;
  }

  private async isAllowed(user: User, verb: string, subresource: string): Promise<boolean> {
    const key = JSON.stringify([user, verb, subresource]);
    const known = this.decisions.get(key);
    const now = this.clock.monotonic();
    if (known && known.until > now) return known.allowed;
    const spec: SubjectAccessReview['spec'] = {
      user: user.name,
      uid: user.uid,
      groups: [...user.groups],
      extra: user.extra,
      resourceAttributes: { verb, version: 'v1', resource: 'nodes', subresource, name: this.nodeName },
    };
    const review = await this.client.request<SubjectAccessReview>({
      method: 'POST',
      path: `/apis/${SubjectAccessReviews.group}/${SubjectAccessReviews.version}/${SubjectAccessReviews.resource}`,
      body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec },
    });
    const allowed = review.status?.allowed === true;
    this.decisions.set(key, { allowed, until: now + (allowed ? allowedTTLMs : deniedTTLMs) });
    return allowed;
  }
}

/** CN is the user, O the groups: only of certificates that the client CA signed. */
function certificateUser(socket: TLSSocket): User | undefined {
  if (!socket.authorized) return undefined;
  const { subject } = socket.getPeerCertificate();
  if (!subject?.CN) return undefined;
  const organizations = subject.O as string | string[] | undefined;
  const groups = organizations === undefined ? [] : [organizations].flat();
  return { name: String(subject.CN), groups: [...groups, 'system:authenticated'] };
}

const verbs: Record<string, string> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};
const verbOf = (method: string): string => verbs[method] ?? '';

/** Subresources of which one has to be allowed, the finer first (KEP-2862). Source: pkg/kubelet/server/auth.go. */
export function subresourcesOf(path: string): string[] {
  const [first = ''] = path.split('/').filter(Boolean);
  switch (first) {
    case 'stats':
      return ['stats'];
    case 'metrics':
      return ['metrics'];
    case 'logs':
      return ['log'];
    case 'checkpoint':
      return ['checkpoint'];
    case 'pods':
    case 'runningpods':
      return ['pods', 'proxy'];
    case 'healthz':
      return ['healthz', 'proxy'];
    case 'configz':
      return ['configz', 'proxy'];
    default:
      return ['proxy'];
  }
}
