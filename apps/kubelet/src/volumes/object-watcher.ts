import {
  ConfigMaps,
  Secrets,
  type ConfigMap,
  type KubeObject,
  type Pod,
  type ResourceDescriptor,
  type Secret,
} from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';
import { withLinkedSignal, type Clock } from '@tinkernetes/component-base';
import type { SharedInformer } from '@tinkernetes/informers';
import type { ObjectSource } from '../environment/environment';
import type { SharedWatches } from '../node/shared-watches';
import { allContainers, uidOf } from '../pods/pod-facts';

/** The kubelet's own watch of an object lists in this time or something is wrong with the API server. */
const syncTimeoutMs = 30_000;

export interface ObjectWatcherDeps {
  client: Client;
  watches: SharedWatches;
  clock: Clock;
  signal: AbortSignal;
  /** A ConfigMap or Secret that this Pod refers to has changed. */
  onChange(podUID: string): void;
}

interface Watched<T extends KubeObject> {
  informer: SharedInformer<T>;
  /** Pods that refer to it. */
  users: Set<string>;
  /** Reads under way: of a Pod that has ended meanwhile, say. */
  readers: number;
  stop(): void;
}

/**
 * ConfigMaps and Secrets that this node's Pods refer to, each with a watch of its own for as long as a Pod needs it:
 * the node authorizer lets a kubelet see no others. Source: pkg/kubelet/util/manager (watch based).
 */
export class ObjectWatcher implements ObjectSource {
  private readonly watched = new Map<string, Watched<ConfigMap> | Watched<Secret>>();

  constructor(private readonly deps: ObjectWatcherDeps) {}

  /** Starts watching what the Pod refers to and stops what it no longer does. */
  register(pod: Pod): void {
    const uid = uidOf(pod);
    const wanted = new Set(referencesOf(pod));
    for (const key of wanted) this.watch(key).users.add(uid);
    for (const [key, { users }] of this.watched)
      if (!wanted.has(key) && users.delete(uid)) this.releaseUnused(key);
  }

  /** The node takes no part in any watch any more. */
  stop(): void {
    for (const { stop } of this.watched.values()) stop();
    this.watched.clear();
  }

  unregister(uid: string): void {
    for (const [key, { users }] of this.watched) if (users.delete(uid)) this.releaseUnused(key);
  }

  configMap(namespace: string, name: string): Promise<ConfigMap | undefined> {
    return this.read<ConfigMap>(`configmaps|${namespace}|${name}`, namespace, name);
  }

  secret(namespace: string, name: string): Promise<Secret | undefined> {
    return this.read<Secret>(`secrets|${namespace}|${name}`, namespace, name);
  }

  private async read<T extends KubeObject>(
    key: string,
    namespace: string,
    name: string,
  ): Promise<T | undefined> {
    const entry = this.watch(key) as Watched<T>;
    entry.readers++;
    try {
      await this.untilSynced(entry.informer);
      return entry.informer.lister.get(name, namespace);
    } finally {
      entry.readers--;
      this.releaseUnused(key);
    }
  }

  private async untilSynced<T extends KubeObject>(informer: SharedInformer<T>): Promise<void> {
    const { clock, signal } = this.deps;
    const limit = new AbortController();
    const timer = clock.setTimeout(
      () => limit.abort(new Error('timed out waiting for the cache')),
      syncTimeoutMs,
    );
    try {
      await withLinkedSignal([signal, limit.signal], (ended) => informer.waitForSync(ended));
    } finally {
      timer.cancel();
    }
  }

  private watch(key: string): Watched<ConfigMap> | Watched<Secret> {
    const known = this.watched.get(key);
    if (known) return known;
    const [resource, namespace = '', name = ''] = key.split('|');
    const entry =
      resource === 'secrets' ? this.start(Secrets, namespace, name) : this.start(ConfigMaps, namespace, name);
    this.watched.set(key, entry);
    return entry;
  }

  private start<T extends KubeObject>(
    descriptor: ResourceDescriptor<T>,
    namespace: string,
    name: string,
  ): Watched<T> {
    const { client, watches } = this.deps;
    const { informer, leave } = watches.join(client, descriptor, {
      namespace,
      fieldSelector: `metadata.name=${name}`,
    });
    const users = new Set<string>();
    const changed = () => {
      for (const uid of users) this.deps.onChange(uid);
    };
    const ignore = informer.addEventHandler({
      added: (_object, isInInitialList) => {
        if (!isInInitialList) changed();
      },
      updated: changed,
      deleted: changed,
    });
    const stop = () => {
      ignore();
      leave();
    };
    return { informer, users, readers: 0, stop };
  }

  private releaseUnused(key: string): void {
    const entry = this.watched.get(key);
    if (!entry || entry.users.size > 0 || entry.readers > 0) return;
    entry.stop();
    this.watched.delete(key);
  }
}

/** `configmaps|namespace|name` and `secrets|…` of everything that a Pod's spec names. */
export function referencesOf(pod: Pod): string[] {
  const namespace = pod.metadata.namespace ?? '';
  const keys = new Set<string>();
  const configMap = (name: string | undefined) => name && keys.add(`configmaps|${namespace}|${name}`);
  const secret = (name: string | undefined) => name && keys.add(`secrets|${namespace}|${name}`);
  for (const { container } of allContainers(pod)) {
    for (const from of container.envFrom ?? []) {
      configMap(from.configMapRef?.name);
      secret(from.secretRef?.name);
    }
    for (const { valueFrom } of container.env ?? []) {
      configMap(valueFrom?.configMapKeyRef?.name);
      secret(valueFrom?.secretKeyRef?.name);
    }
  }
  for (const volume of pod.spec.volumes ?? []) {
    configMap(volume.configMap?.name);
    secret(volume.secret?.secretName);
    for (const source of volume.projected?.sources ?? []) {
      configMap(source.configMap?.name);
      secret(source.secret?.name);
    }
  }
  for (const { name } of pod.spec.imagePullSecrets ?? []) secret(name);
  return [...keys];
}
