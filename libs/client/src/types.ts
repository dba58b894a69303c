import type { Creatable, KubeObject, ObjectMeta, ResourceDescriptor, Scale, Status } from '@tinkernetes/api';
import type { TraceParent } from '@tinkernetes/component-base';

export interface ListMetaLike {
  resourceVersion?: string;
  continue?: string;
  remainingItemCount?: number;
}
export interface ObjectList<T> {
  metadata: ListMetaLike;
  items: T[];
}

/** One line of a watch stream. A BOOKMARK's object has only a resourceVersion (and perhaps annotations). */
export type WatchEvent<T> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T }
  | { type: 'BOOKMARK'; object: { metadata: Partial<ObjectMeta> } }
  | { type: 'ERROR'; object: Status };

export interface CallOptions {
  signal?: AbortSignal;
  /** The trace that this request is part of; sent as `traceparent`. */
  trace?: TraceParent;
}
export interface ScopeOptions extends CallOptions {
  /** Left out: all namespaces (list, watch) or a cluster-scoped resource. */
  namespace?: string;
}
export interface ListOptions extends ScopeOptions {
  labelSelector?: string;
  fieldSelector?: string;
  resourceVersion?: string;
  resourceVersionMatch?: 'Exact' | 'NotOlderThan';
  limit?: number;
  continue?: string;
  /** Objects come with their metadata only, as PartialObjectMetadata. */
  metadataOnly?: boolean;
}
export interface WatchOptions extends ScopeOptions {
  labelSelector?: string;
  fieldSelector?: string;
  resourceVersion?: string;
  allowWatchBookmarks?: boolean;
  /**
   * First what is there, as ADDED events, and then a bookmark with `initialEventsEnd`: a list that arrives in pieces.
   * https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming-lists
   */
  sendInitialEvents?: boolean;
  timeoutSeconds?: number;
  /** As in `ListOptions`. */
  metadataOnly?: boolean;
}
export interface WriteOptions extends ScopeOptions {
  fieldManager?: string;
  dryRun?: boolean;
}
export interface DeleteCallOptions extends ScopeOptions {
  gracePeriodSeconds?: number;
  propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  preconditions?: { uid?: string; resourceVersion?: string };
}
export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';
export interface PatchOptions extends WriteOptions {
  type: PatchType;
  /** For `apply` only. */
  force?: boolean;
  subresource?: string;
}

/** Calls on one resource. All reject with StatusError (API errors) or with the transport's error. */
export interface ResourceClient<T extends KubeObject> {
  readonly descriptor: ResourceDescriptor<T>;
  get(name: string, options?: ScopeOptions): Promise<T>;
  list(options?: ListOptions): Promise<ObjectList<T>>;
  /** Ends when the server ends the stream or the signal aborts; rejects with StatusError (e.g. 410) when refused. */
  watch(options?: WatchOptions): AsyncIterable<WatchEvent<T>>;
  create(object: Creatable<T>, options?: WriteOptions): Promise<T>;
  update(object: T, options?: WriteOptions): Promise<T>;
  updateStatus(object: T, options?: WriteOptions): Promise<T>;
  patch(name: string, patch: object, options: PatchOptions): Promise<T>;
  /** The deleted object, or a Status when it was gone at once. */
  delete(name: string, options?: DeleteCallOptions): Promise<T | Status>;
  deleteCollection(options?: ListOptions & DeleteCallOptions): Promise<void>;
  getScale(name: string, options?: ScopeOptions): Promise<Scale>;
  updateScale(name: string, scale: Scale, options?: WriteOptions): Promise<Scale>;
  /** POST/PUT/GET on another subresource: `subresource('POST', 'web-1', 'binding', body)`. */
  subresource<R = unknown>(
    method: 'GET' | 'POST' | 'PUT',
    name: string,
    subresource: string,
    body?: object,
    options?: WriteOptions,
  ): Promise<R>;
}

/** A connection to one API server, as one identity. */
export interface Client {
  /** `https://127.0.0.1:6443` */
  readonly server: string;
  for<T extends KubeObject>(descriptor: ResourceDescriptor<T>): ResourceClient<T>;
  /** Any path, JSON in and out: `request({ method: 'GET', path: '/version' })`. */
  request<R = unknown>(request: RawRequest): Promise<R>;
  /** Any path, answer as text (`/healthz`, logs). */
  requestText(request: RawRequest): Promise<string>;
  /** Trace context of an object that this client received, if the server sent one beside it. */
  traceOf(object: KubeObject): TraceParent | undefined;
  /** Closes idle connections. */
  close(): void;
}
export interface RawRequest extends CallOptions {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With query string. */
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
}

export interface ClientConfig {
  server: string;
  /** PEM. */
  caData?: string;
  certData?: string;
  keyData?: string;
  token?: string;
  /** Read anew at most once a minute, as projected tokens rotate. */
  tokenFile?: string;
  /** Asked before each request; before `token` and `tokenFile`. It keeps what it gave for as long as that is good. */
  tokenSource?: () => Promise<string>;
  insecureSkipTLSVerify?: boolean;
  userAgent: string;
  /** Ask for trace contexts beside objects (our own components do). */
  traces?: boolean;
}
