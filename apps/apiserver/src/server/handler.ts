import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { linkSignals } from '@tinkernetes/component-base';
import { clearProxyHeaders } from '../authentication/proxy-headers';
import type { ApiRequest, Authenticator, RequestInfo, UserInfo } from '../contracts';
import type { EndpointContext } from '../endpoints/context';
import type { Release } from '../flow-control/priority-level';
import type { RequestLimiter } from '../flow-control/request-limiter';
import type { RequestMetrics, RunningRequest } from '../request-metrics/request-metrics';
import { isSpanReport } from '../traces/handler';
import { KubectlSessions } from '../traces/kubectl-sessions';
import { RequestSteps } from '../traces/request-steps';
import { attributesOf, authenticate, authorize } from './filters';
import { createImpersonation } from './impersonation';
import { parseRequestInfo } from './request-info';
import { sendError } from './send-error';
import { Warnings } from './warnings';

export interface HandlerOptions {
  context: EndpointContext;
  authenticators: readonly Authenticator[];
  limiter: RequestLimiter;
  /** Serves everything once the request may pass. */
  serve(request: ApiRequest): Promise<void>;
  /** Aborted when the server stops. */
  signal: AbortSignal;
}

/**
 * The filter chain: authentication → impersonation → flow control → authorization → handler. Source: k8s.io/apiserver
 * DefaultBuildHandlerChain.
 */
export function createHandler({ context, authenticators, limiter, serve, signal }: HandlerOptions) {
  const { options, authorizer, clock, requestMetrics } = context;
  const { tracer } = context.context;
  const kubectlSessions = new KubectlSessions(clock);
  const impersonate = createImpersonation(authorizer);

  /** A trace begins where an object is created, and goes on where a client says so. */
  function traced(raw: IncomingMessage, info: RequestInfo): RequestSteps | undefined {
    if (!info.isResourceRequest || !writeVerbs.has(info.verb)) return undefined;
    const given = raw.headers['traceparent'];
    const starts = info.verb === 'create' && !info.subresource && !untraced.has(info.resource);
    const parent = typeof given === 'string' ? given : starts ? tracer.startTrace() : undefined;
    return parent === undefined ? undefined : new RequestSteps(parent, clock, tracer);
  }

  function dropped(raw: IncomingMessage, info: RequestInfo, query: URLSearchParams): void {
    const { apiGroup, apiVersion, resource } = info;
    if (context.table.lookup(apiGroup, apiVersion, resource)) requestMetrics.dropped({ raw, info, query });
  }

  async function senderOf(raw: IncomingMessage): Promise<UserInfo> {
    const { authentication } = requestMetrics;
    try {
      const user = await authenticate(raw, authenticators, options.anonymousAuth);
      authentication.succeeded(user.name);
      return user;
    } catch (error) {
      authentication.failed(raw.headers.authorization === undefined ? 'failure' : 'error');
      throw error;
    }
  }

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
    kubectlSessions.observe(raw, response, path);
    let release: Release = () => undefined;
    let request: Request | undefined;
    const arrived = clock.monotonic();
    try {
      const started = clock.now();
      const sender = await senderOf(raw);
      if (options.requestHeader) clearProxyHeaders(raw, options.requestHeader);
      const authenticated = clock.now();
      const impersonated = await impersonate({
        raw,
        user: sender,
        attributes: () => attributesOf(info, sender, query),
      });
      const user = impersonated ?? sender;
      const limited = limiter.admit({ info, user, response });
      const admitted = limited instanceof Promise ? await limited : limited;
      if (!admitted) {
        if (response.statusCode === 429) dropped(raw, info, query);
        return;
      }
      release = admitted;
      const authorizing = clock.now();
      const reason = isSpanReport(info, user)
        ? ''
        : await authorize(authorizer, attributesOf(info, user, query));
      const steps = traced(raw, info);
      if (steps) {
        kubectlSessions.addSteps(steps, raw, started);
        steps.mark('apiserver.authentication', started, { authenticators: authenticators.length });
        steps.mark('apiserver.authentication.result', authenticated, { user: sender.name });
        steps.mark('apiserver.context', authenticated, {
          user: user.name,
          impersonated: impersonated !== undefined,
        });
        steps.mark('apiserver.authorization', authorizing, { decision: 'allow', reason });
      }
      request = new Request(raw, response, {
        info,
        query,
        user,
        impersonator: impersonated ? sender : undefined,
        stopped: signal,
        upgrade,
        steps,
        begun: release,
        metrics: requestMetrics,
      });
      await serve(request);
    } catch (error) {
      if (response.headersSent) response.destroy();
      else sendError(response, error);
    } finally {
      release();
      request?.running?.ended(response, {
        // What is passed through after an upgrade doesn't use the response.
        code: upgrade && !response.headersSent ? 101 : response.statusCode,
        seconds: (clock.monotonic() - arrived) / 1000,
      });
    }
  };
}

const writeVerbs: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete']);
/** Heartbeats, records and questions: nobody follows where they lead. */
const untraced: ReadonlySet<string> = new Set([
  'events',
  'leases',
  'tokenreviews',
  'subjectaccessreviews',
  'selfsubjectaccessreviews',
  'localsubjectaccessreviews',
  'selfsubjectrulesreviews',
  'selfsubjectreviews',
]);

interface RequestParts {
  steps: RequestSteps | undefined;
  info: ApiRequest['info'];
  query: URLSearchParams;
  user: UserInfo;
  impersonator: UserInfo | undefined;
  /** Aborted when the server stops. */
  stopped: AbortSignal;
  upgrade: ApiRequest['upgrade'];
  begun: ApiRequest['begun'];
  metrics: RequestMetrics;
}

class Request implements ApiRequest {
  readonly info: ApiRequest['info'];
  readonly query: URLSearchParams;
  readonly user: UserInfo;
  readonly impersonator: UserInfo | undefined;
  readonly upgrade: ApiRequest['upgrade'];
  readonly steps: ApiRequest['steps'];
  readonly begun: ApiRequest['begun'];
  trace: ApiRequest['trace'];
  /** Set when a handler has been found. */
  running: RunningRequest | undefined;
  private readonly metrics: RequestMetrics;
  private readonly stopped: AbortSignal;
  private ended: AbortSignal | undefined;
  private warnings: Warnings | undefined;

  constructor(
    readonly raw: IncomingMessage,
    readonly response: ServerResponse,
    parts: RequestParts,
  ) {
    this.info = parts.info;
    this.query = parts.query;
    this.user = parts.user;
    this.impersonator = parts.impersonator;
    this.stopped = parts.stopped;
    this.upgrade = parts.upgrade;
    this.steps = parts.steps;
    this.begun = parts.begun;
    this.metrics = parts.metrics;
    this.trace = parts.steps?.parent;
  }

  /** Made when somebody asks: most requests are over before anybody would. */
  get signal(): AbortSignal {
    if (this.ended) return this.ended;
    const gone = new AbortController();
    const onClose = () => gone.abort(new Error('the client went away'));
    if (this.response.closed) onClose();
    else this.response.once('close', onClose);
    return (this.ended = linkSignals(this.stopped, gone.signal).signal);
  }

  routed(): void {
    this.running ??= this.metrics.begun(this);
  }

  warn(message: string): void {
    this.warnings ??= new Warnings(this.response);
    this.warnings.add(message);
  }
}
