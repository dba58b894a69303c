import { APIServices, EndpointSlices, Services, type APIService, type KubeObject } from '@tinkernetes/api';
import { deepEqual, findCondition, isConditionTrue, isNotFound } from '@tinkernetes/apimachinery';
import { formatTime, type Timer } from '@tinkernetes/component-base';
import type { ApiRequest, ServerDependencies } from '../contracts';
import { KubeletConnections } from '../proxy/kubelet-connection';
import { splitPath } from '../server/request-info';
import { startAutomaticServices } from './automatic-services';
import { checkAvailability } from './availability';
import { loadProxyClient } from './front-proxy';
import { KeyedWork } from '../server/keyed-work';
import { loadOnce } from '../server/load-once';
import { aggregatorMetrics } from './metrics';
import { RemoteServer, type RemoteTools } from './remote-server';
import { localVerdict, withVerdict, type Verdict } from './verdict';

/** Servers that answer are asked again this often: whether the way to them is open no object says. */
const recheckMs = 30_000;

/** A group and version that another server serves. */
export interface RemoteApi {
  readonly service: APIService;
  readonly server: RemoteServer;
}

/**
 * Follows the APIServices: which groups and versions other servers serve, and whether they answer. Source:
 * https://kubernetes.io/docs/tasks/extend-kubernetes/configure-aggregation-layer/
 */
export class Aggregator {
  private readonly remotes = new Map<string, RemoteApi>();
  private readonly services;
  private readonly work: KeyedWork;
  private readonly tools: RemoteTools;
  private readonly metrics;
  private readonly unsubscribe: (() => void)[] = [];
  private recheck: Timer | undefined;
  private stopAutomatic: () => Promise<void> = () => Promise.resolve();
  private listeners: (() => void)[] = [];

  constructor(private readonly deps: ServerDependencies) {
    this.services = deps.stores.for(APIServices);
    this.work = new KeyedWork(deps.context.clock, (name) => this.reconcile(name));
    this.metrics = aggregatorMetrics(deps.context.metrics);
    this.tools = {
      deps,
      kubelets: new KubeletConnections(deps),
      proxyClient: loadOnce(() => loadProxyClient(deps.options)),
    };
  }

  start(): void {
    this.unsubscribe.push(
      this.services.onChange(({ type, object }) => {
        if (type === 'DELETED') this.forget(object.metadata.name);
        else this.learn(object);
      }),
    );
    for (const service of this.services.list()) this.learn(service);
    this.stopAutomatic = startAutomaticServices(this.deps);
  }

  async stop(): Promise<void> {
    for (const stop of this.unsubscribe) stop();
    this.recheck?.cancel();
    // What is being asked ends with its connection.
    for (const { server } of this.remotes.values()) server.close();
    await Promise.all([this.work.stop(), this.stopAutomatic()]);
  }

  /** Called when another server's part of discovery may have changed. */
  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  get hasRemotes(): boolean {
    return this.remotes.size > 0;
  }

  all(): Iterable<RemoteApi> {
    return this.remotes.values();
  }

  /** The API behind a path like `/apis/GROUP/VERSION/…`; undefined where this server serves it. */
  remoteFor(path: string): RemoteApi | undefined {
    const [root, group, version] = splitPath(path);
    return root === 'apis' ? this.remotes.get(`${version ?? ''}.${group ?? ''}`) : undefined;
  }

  /** Sends a request on to the server that serves it; false: this server does. */
  async serve(request: ApiRequest): Promise<boolean> {
    const remote = this.remoteFor(request.info.path);
    if (!remote) return false;
    const { proxyToRemote } = await import('./proxy');
    await proxyToRemote(request, remote);
    return true;
  }

  private learn(service: APIService & KubeObject): void {
    const { name } = service.metadata;
    const before = this.remotes.get(name);
    if (!service.spec.service) {
      if (before) this.forget(name);
      if (findCondition(service.status?.conditions, 'Available')?.reason !== localVerdict.reason)
        this.work.add(name);
      return;
    }
    const isSame = before !== undefined && deepEqual(before.service.spec, service.spec);
    if (!isSame) before?.server.close();
    this.remotes.set(name, {
      service,
      server: isSame ? before.server : new RemoteServer(this.tools, service.spec),
    });
    this.follow();
    this.changed();
    // A change of the status alone is this server's own.
    if (!isSame) this.work.add(name);
  }

  private forget(name: string): void {
    this.metrics.forget(name);
    const remote = this.remotes.get(name);
    if (!remote) return;
    remote.server.close();
    this.remotes.delete(name);
    this.changed();
    if (this.hasRemotes) return;
    this.recheck?.cancel();
    this.recheck = undefined;
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }

  /** What availability depends on; followed from the first remote API on. */
  private follow(): void {
    if (this.recheck) return;
    const { stores, context } = this.deps;
    this.recheck = context.clock.setInterval(() => this.checkAll(), recheckMs, { unref: true });
    if (this.unsubscribe.length > 1) return;
    this.unsubscribe.push(
      stores
        .for(Services)
        .onChange(({ object: { metadata } }) => this.check(metadata.namespace, metadata.name)),
      stores.for(EndpointSlices).onChange(({ object: { metadata } }) => {
        this.check(metadata.namespace, metadata.labels?.['kubernetes.io/service-name']);
      }),
    );
  }

  private check(namespace: string | undefined, service: string | undefined): void {
    for (const [name, { server }] of this.remotes) {
      if (server.address.name === service && server.address.namespace === namespace) this.work.add(name);
    }
  }

  private checkAll(): void {
    for (const name of this.remotes.keys()) this.work.add(name);
  }

  private async reconcile(name: string): Promise<void> {
    const service = this.services.peek(name);
    if (!service) return;
    const remote = this.remotes.get(name);
    const verdict = remote ? await checkAvailability(this.deps.stores, service, remote.server) : localVerdict;
    await this.record(name, service, verdict);
    if (verdict.reason === 'FailedDiscoveryCheck') throw new Error(verdict.message);
  }

  private async record(name: string, service: APIService, verdict: Verdict): Promise<void> {
    const now = formatTime(this.deps.context.clock.now());
    this.metrics.set(name, service, verdict);
    if (withVerdict(service, verdict, now) === service) return;
    try {
      await this.services.modify(
        name,
        undefined,
        (current) =>
          // The spec has changed meanwhile: what was found is of another server.
          deepEqual(current.spec, service.spec) ? withVerdict(current, verdict, now) : undefined,
        { fieldManager: 'kube-apiserver', subresource: 'status' },
      );
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

export const isAvailable = ({ service }: RemoteApi): boolean =>
  isConditionTrue(service.status?.conditions, 'Available');
