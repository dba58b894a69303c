import {
  ServiceAccounts,
  type Pod,
  type ServiceAccountTokenProjection,
  type TokenRequest,
} from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';
import type { Clock, Random } from '@tinkernetes/component-base';
import { uidOf } from '../pods/pod-facts';

interface Token {
  value: string;
  /** RFC 3339 */
  expires: string;
  refreshAt: number;
}

const defaultExpirationSeconds = 3600;
/** A token is never kept longer than this, whatever its lifetime. */
const maxAgeMs = 24 * 3600_000;
/** Of its lifetime, after which a new one is asked for. */
const refreshAfter = 0.8;
const maxJitterMs = 10_000;

/** Bound service-account tokens for Pods, asked for by TokenRequest and renewed in time. Source: pkg/kubelet/token. */
export class TokenManager {
  private readonly tokens = new Map<string, Token>();

  constructor(
    private readonly client: Client,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  async get(pod: Pod, projection: ServiceAccountTokenProjection): Promise<string> {
    return (await this.token(pod, projection)).value;
  }

  /** With the time when it ends. */
  async token(
    pod: Pod,
    { audience, expirationSeconds = defaultExpirationSeconds }: Omit<ServiceAccountTokenProjection, 'path'>,
  ): Promise<Readonly<Token>> {
    const key = `${uidOf(pod)}|${audience ?? ''}|${expirationSeconds}`;
    const known = this.tokens.get(key);
    const now = this.clock.now();
    if (known && now < known.refreshAt) return known;
    try {
      const token = await this.request(pod, { audience, expirationSeconds });
      this.tokens.set(key, token);
      return token;
    } catch (error) {
      // The old one serves until it ends; the next look at the Pod asks again.
      if (known && now < Date.parse(known.expires)) return known;
      const what = known ? 'token expired and refresh failed' : 'failed to fetch token';
      throw new Error(`${what}: ${(error as Error).message}`, { cause: error });
    }
  }

  private async request(
    pod: Pod,
    { audience, expirationSeconds }: Pick<ServiceAccountTokenProjection, 'audience' | 'expirationSeconds'>,
  ): Promise<Token> {
    const now = this.clock.now();
    const { name, namespace } = pod.metadata;
    const request: TokenRequest = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: {} as TokenRequest['metadata'],
      spec: {
        audiences: audience ? [audience] : [],
        expirationSeconds,
        boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid: uidOf(pod) },
      },
    };
    const answer = await this.client
      .for(ServiceAccounts)
      .subresource<TokenRequest>('POST', pod.spec.serviceAccountName ?? 'default', 'token', request, {
        namespace,
      });
    const value = answer.status?.token;
    if (!value) throw new Error('the API server answered a TokenRequest without a token');
    const expires = answer.status?.expirationTimestamp ?? '';
    const lifetime = Date.parse(expires) - now;
    const wait = Math.min(maxAgeMs, lifetime * refreshAfter) - this.random.next() * maxJitterMs;
    return { value, expires, refreshAt: now + Math.max(0, wait) };
  }

  forget(uid: string): void {
    for (const key of [...this.tokens.keys()]) if (key.startsWith(`${uid}|`)) this.tokens.delete(key);
  }
}
