import { accessSync, constants } from 'node:fs';
import type { SubjectAccessReview } from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';
import { LruMap, type RunContext } from '@tinkernetes/component-base';
import type { AuthorizationAttributes, AuthorizationResult, Authorizer } from '../contracts';

/** As upstream's `--authorization-webhook-cache-authorized-ttl` and `-unauthorized-ttl`. */
const authorizedTtlMs = 5 * 60_000;
const unauthorizedTtlMs = 30_000;
const cacheSize = 8192;

/**
 * Asks the server of `--authorization-webhook-config-file` (a kubeconfig) with SubjectAccessReviews; what it answers is
 * remembered for a while. https://kubernetes.io/docs/reference/access-authn-authz/webhook/
 */
export class WebhookAuthorizer implements Authorizer {
  readonly name = 'Webhook';
  private readonly answers = new LruMap<string, { result: AuthorizationResult; until: number }>(cacheSize);
  private client: Promise<Client> | undefined;

  constructor(
    private readonly file: string,
    private readonly context: RunContext,
  ) {
    // A path that is wrong ends the start, not the first request.
    accessSync(file, constants.R_OK);
  }

  async authorize(attributes: AuthorizationAttributes): Promise<AuthorizationResult> {
    const spec = specOf(attributes);
    const key = JSON.stringify(spec);
    const now = this.context.clock.now();
    const known = this.answers.get(key);
    if (known && known.until > now) return known.result;
    const result = await this.ask(spec);
    if (!result) return { decision: 'no-opinion', reason: '' };
    this.answers.set(key, {
      result,
      until: now + (result.decision === 'allow' ? authorizedTtlMs : unauthorizedTtlMs),
    });
    return result;
  }

  /** undefined when the webhook can't be asked: the next authorizer decides. */
  private async ask(spec: SubjectAccessReview['spec']): Promise<AuthorizationResult | undefined> {
    try {
      const client = await (this.client ??= this.connect());
      const { status } = await client.request<SubjectAccessReview>({
        method: 'POST',
        path: '',
        body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', metadata: {}, spec },
      });
      const reason = status?.reason ?? '';
      if (status?.allowed) return { decision: 'allow', reason };
      return { decision: status?.denied ? 'deny' : 'no-opinion', reason };
    } catch (error) {
      this.context.logger.error({ error }, 'authorization webhook failed');
      return undefined;
    }
  }

  private async connect(): Promise<Client> {
    const { createClient, loadKubeconfig } = await import('@tinkernetes/client');
    const client = createClient(await loadKubeconfig(this.file, { userAgent: 'kube-apiserver' }));
    this.context.signal.addEventListener('abort', () => client.close(), { once: true });
    return client;
  }
}

function specOf(a: AuthorizationAttributes): SubjectAccessReview['spec'] {
  const { name, uid, groups, extra } = a.user;
  return {
    user: name,
    ...(uid && { uid }),
    groups: [...groups],
    ...(extra && {
      extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]])),
    }),
    ...(a.isResourceRequest
      ? {
          resourceAttributes: {
            namespace: a.namespace,
            verb: a.verb,
            group: a.apiGroup,
            version: a.apiVersion,
            resource: a.resource,
            subresource: a.subresource,
            name: a.name,
          },
        }
      : { nonResourceAttributes: { path: a.path, verb: a.verb } }),
  };
}
