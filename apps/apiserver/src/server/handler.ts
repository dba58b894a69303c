import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ApiRequest, Authenticator, UserInfo } from '../contracts';
import type { EndpointContext } from '../endpoints/context';
import { attributesOf, authenticate, authorize } from './filters';
import { impersonate } from './impersonation';
import { parseRequestInfo } from './request-info';
import { sendError } from './respond';

export interface HandlerOptions {
  context: EndpointContext;
  authenticators: readonly Authenticator[];
  /** Serves everything once the request may pass. */
  serve(request: ApiRequest): Promise<void>;
  /** Aborted when the server stops. */
  signal: AbortSignal;
}

/**
 * The filter chain: authentication → impersonation → authorization → handler. Source: k8s.io/apiserver
 * DefaultBuildHandlerChain.
 */
export function createHandler({ context, authenticators, serve, signal }: HandlerOptions) {
  const { options, authorizer } = context;
  return async function handle(
    raw: IncomingMessage,
    response: ServerResponse,
    upgrade?: { socket: Duplex; head: Buffer },
  ): Promise<void> {
    const url = raw.url ?? '/';
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const query = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
    const info = parseRequestInfo(raw.method ?? 'GET', path, query);
    response.setHeader('Audit-Id', context.context.random.uid());
    response.setHeader('Cache-Control', 'no-cache, private');
    const gone = new AbortController();
    response.on('close', () => gone.abort(new Error('the client went away')));
    try {
      const sender = await authenticate(raw, authenticators, options.anonymousAuth);
      const impersonated = await impersonate(raw, sender, authorizer);
      const user = impersonated ?? sender;
      await authorize(authorizer, attributesOf(info, user, query));
      await serve(
        new Request(raw, response, {
          info,
          query,
          user,
          impersonator: impersonated ? sender : undefined,
          signal: AbortSignal.any([signal, gone.signal]),
          upgrade,
        }),
      );
    } catch (error) {
      if (response.headersSent) response.destroy();
      else sendError(response, error);
    }
  };
}

interface RequestParts {
  info: ApiRequest['info'];
  query: URLSearchParams;
  user: UserInfo;
  impersonator: UserInfo | undefined;
  signal: AbortSignal;
  upgrade: ApiRequest['upgrade'];
}

class Request implements ApiRequest {
  readonly info: ApiRequest['info'];
  readonly query: URLSearchParams;
  readonly user: UserInfo;
  readonly impersonator: UserInfo | undefined;
  readonly signal: AbortSignal;
  readonly upgrade: ApiRequest['upgrade'];
  trace: ApiRequest['trace'];
  private warnings: Set<string> | undefined;

  constructor(
    readonly raw: IncomingMessage,
    readonly response: ServerResponse,
    parts: RequestParts,
  ) {
    this.info = parts.info;
    this.query = parts.query;
    this.user = parts.user;
    this.impersonator = parts.impersonator;
    this.signal = parts.signal;
    this.upgrade = parts.upgrade;
    const parent = raw.headers['traceparent'];
    this.trace = typeof parent === 'string' ? parent : undefined;
  }

  warn(message: string): void {
    this.warnings ??= new Set();
    if (this.warnings.has(message) || this.response.headersSent) return;
    this.warnings.add(message);
    // RFC 7234: warn-code, warn-agent, quoted warn-text.
    const text = message.replace(/[\\"]/g, '\\$&').replace(/[\r\n]+/g, ' ');
    this.response.appendHeader('Warning', `299 - "${text}"`);
  }
}
