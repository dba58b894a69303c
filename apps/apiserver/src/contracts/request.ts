import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { RequestSteps } from '../traces/request-steps';
import type { TraceParent } from '@tinkernetes/component-base';

/** Who sends a request. Source: k8s.io/apiserver/pkg/authentication/user. */
export interface UserInfo {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export type ResourceVerb =
  | 'get'
  | 'list'
  | 'watch'
  | 'create'
  | 'update'
  | 'patch'
  | 'delete'
  | 'deletecollection'
  | 'connect'
  | 'proxy';

/** What a request asks for, from its URL and method (k8s.io/apiserver/pkg/endpoints/request.RequestInfo). */
export interface RequestInfo {
  readonly isResourceRequest: boolean;
  readonly path: string;
  /** For non-resource requests the lower-case HTTP method. */
  readonly verb: string;
  readonly apiPrefix: string;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  /** Whether it is one of the deprecated paths below `/watch/`. */
  readonly watchPath: boolean;
  /** Path segments from the resource on. */
  readonly parts: readonly string[];
}

/** One request on its way through the server. Handlers throw StatusError; the server renders it. */
export interface ApiRequest {
  readonly raw: IncomingMessage;
  readonly response: ServerResponse;
  readonly info: RequestInfo;
  readonly query: URLSearchParams;
  readonly user: UserInfo;
  /** The user who authenticated, where `user` is impersonated. */
  readonly impersonator?: UserInfo;
  /** Aborted when the client goes away or the server stops. */
  readonly signal: AbortSignal;
  /** Adds a `Warning: 299` header to the answer. */
  warn(message: string): void;
  /** Set when the client asked for an Upgrade (exec, attach, port-forward, proxied WebSockets). */
  readonly upgrade?: { readonly socket: Duplex; readonly head: Buffer };
  /** To be called when a watch has begun or another server answers: from then on the request does not count as work that is under way. */
  begun(): void;
  /** To be called when a handler has been found: requests that lead nowhere are not counted in the metrics. */
  routed(): void;
  trace?: TraceParent;
  /** Set while the request is traced. */
  readonly steps?: RequestSteps;
}
