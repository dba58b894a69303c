import type { KubeObject, ResourceDescriptor } from '@tinkernetes/api';
import type { RunContext } from '@tinkernetes/component-base';
import type { ApiServerOptions } from '../options';
import type { Authenticator, Authorizer } from './access';
import type { AdmissionPlugin } from './admission';
import type { ApiRequest, RequestInfo } from './request';
import type { StoreRegistry } from './store';
import type { SubresourceHandler } from './strategy';

/** What the server gives the parts that it is composed of. */
export interface ServerDependencies {
  readonly options: ApiServerOptions;
  readonly context: RunContext;
  readonly stores: StoreRegistry;
}

/** Reading requests and writing answers, as the generic endpoints do it (content negotiation, limits, warnings). */
export interface HttpIO {
  /**
   * The decoded body (JSON, YAML or protobuf by Content-Type), which has to be of this kind; a body that names none is
   * taken for one. Throws StatusError 400/413/415.
   */
  readObject(
    request: ApiRequest,
    expected: Pick<ResourceDescriptor, 'group' | 'version' | 'kind'>,
  ): Promise<KubeObject>;
  /** The raw body, at most the server's limit. */
  readBody(request: ApiRequest): Promise<Buffer>;
  /** Answers with an object (JSON, YAML, Table … by Accept). */
  respond(request: ApiRequest, code: number, object: object): void;
}

/** Runs the admission chain for writes that subresource handlers do themselves; returns the admitted object. */
export type Admit = (
  request: ApiRequest,
  change: {
    operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
    kind: { group: string; version: string; kind: string };
    object: KubeObject | undefined;
    oldObject: KubeObject | undefined;
    dryRun?: boolean;
  },
) => Promise<KubeObject | undefined>;

export interface HandlerDependencies extends ServerDependencies {
  readonly io: HttpIO;
  readonly admit: Admit;
  readonly authorizer: Authorizer;
  readonly authenticators: readonly Authenticator[];
}

/** Handles a path that belongs to no resource (service-account issuer discovery …); false: not mine. */
export type NonResourceHandler = (request: ApiRequest, info: RequestInfo) => Promise<boolean>;

/**
 * Handlers by `group/resource/subresource`, e.g. `/pods/log`, `/serviceaccounts/token`, `/nodes/proxy`,
 * and by `group/resource/` for resources without storage (`authentication.k8s.io/tokenreviews/`).
 * They run after authentication, authorization and (for CONNECT) nothing else: they call `admit` themselves.
 */
export type SubresourceHandlers = ReadonlyMap<string, SubresourceHandler>;

export type CreateAuthenticators = (deps: ServerDependencies) => Promise<readonly Authenticator[]>;
export type CreateAuthorizer = (deps: ServerDependencies) => Authorizer;
export type CreateAdmissionChain = (
  deps: ServerDependencies & { authorizer: Authorizer },
) => readonly AdmissionPlugin[];
export type CreateSubresourceHandlers = (deps: HandlerDependencies) => SubresourceHandlers;
