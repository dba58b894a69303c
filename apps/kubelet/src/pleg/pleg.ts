import type { Clock, Logger } from '@tinkernetes/component-base';
import type { ContainerEventResponse, ContainerEventType, RuntimeClient } from '@tinkernetes/cri';
import { labels } from '../runtime/labels';
import type { PodCache, Progress } from '../runtime/pod-cache';

export interface PLEGDeps {
  runtime: RuntimeClient;
  cache: PodCache;
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
  /** Something of the Pod changed in the runtime; of the light node `owner`, where that is known. */
  onPodChanged(uid: string, owner: string | undefined): void;
  /** Every relist: whether it worked. */
  onRelist(error?: Error): void;
}

/** How often everything is looked at: while events flow, and while they don't. Source: pkg/kubelet/pleg. */
const safetyNetMs = 300_000;
const relistMs = 1000;
const reconnectMs = 1000;

/**
 * Pod life cycle event generator: the runtime's event stream, with a full listing whenever the stream (re)starts, as a
 * safety net now and then, and every second while the runtime offers no stream.
 */
export class PLEG {
  /** Pod UID → container or sandbox ID → state, as of the last listing. */
  private seen = new Map<string, Map<string, string>>();

  constructor(private readonly deps: PLEGDeps) {}

  async run(): Promise<void> {
    const { signal } = this.deps;
    while (!signal.aborted) {
      const streaming = await this.followEvents();
      if (signal.aborted) return;
      this.deps.logger.debug({ streaming }, 'no runtime events, listing instead');
      await this.pause(reconnectMs);
      await this.relist();
    }
  }

  /** Compares everything in the runtime with the last time and reports the Pods that differ. */
  async relist(): Promise<void> {
    const { runtime, cache, onPodChanged, onRelist } = this.deps;
    const listed = cache.listing();
    try {
      const [sandboxes, containers] = await Promise.all([runtime.listPodSandbox(), runtime.listContainers()]);
      const now = new Map<string, Map<string, string>>();
      const owners = new Map<string, string | undefined>();
      const note = (uid: string | undefined, id: string, state: string) => {
        if (!uid) return;
        let states = now.get(uid);
        if (!states) now.set(uid, (states = new Map()));
        states.set(id, state);
      };
      for (const s of sandboxes.items) {
        const uid = s.metadata?.uid || s.labels[labels.podUID];
        note(uid, s.id, s.state);
        if (uid) owners.set(uid, s.labels[labels.nodeName]);
      }
      for (const c of containers.containers) note(c.labels[labels.podUID], c.id, c.state);
      const before = this.seen;
      this.seen = now;
      for (const uid of new Set([...now.keys(), ...before.keys()])) {
        if (same(now.get(uid), before.get(uid))) continue;
        cache.invalidate(uid);
        onPodChanged(uid, owners.get(uid));
      }
      listed(new Set(now.keys()));
      onRelist();
    } catch (error) {
      if (!this.deps.signal.aborted) onRelist(error as Error);
    }
  }

  /** Resolves when the stream has ended or could not be opened; true when it had worked. */
  private async followEvents(): Promise<boolean> {
    const { runtime, cache, signal, clock, logger } = this.deps;
    let streaming = false;
    let open = true;
    const net = clock.setInterval(() => void this.relist(), safetyNetMs, { unref: true });
    try {
      const events = runtime.getContainerEvents({}, { signal })[Symbol.asyncIterator]();
      // Asked for first, so that nothing happens unseen between the listing and the stream.
      let next = events.next();
      const listing = this.relist().then(() => {
        cache.following = open;
      });
      for (let event = await next; !event.done; event = await next) {
        streaming = true;
        next = events.next();
        this.handle(event.value);
      }
      await listing;
    } catch (error) {
      if (!signal.aborted) logger.debug({ err: error }, 'runtime event stream failed');
    } finally {
      open = false;
      cache.following = false;
      net.cancel();
    }
    return streaming;
  }

  private handle(event: ContainerEventResponse): void {
    const { metadata, labels: sandboxLabels } = event.podSandboxStatus ?? {};
    const { cache, onPodChanged } = this.deps;
    if (!metadata?.uid) return;
    // What the kubelet does itself it looks at itself.
    if (cache.observe(metadata.uid, event, progressOf[event.containerEventType]))
      onPodChanged(metadata.uid, sandboxLabels?.[labels.nodeName]);
  }

  private async pause(ms: number): Promise<void> {
    try {
      await this.deps.clock.sleep(Math.min(ms, relistMs), this.deps.signal);
    } catch (error) {
      if (!this.deps.signal.aborted) throw error;
    }
  }
}

const progressOf: Record<ContainerEventType, Progress> = {
  CONTAINER_CREATED_EVENT: 'created',
  CONTAINER_STARTED_EVENT: 'running',
  CONTAINER_STOPPED_EVENT: 'exited',
  CONTAINER_DELETED_EVENT: 'removed',
};

function same(
  a: ReadonlyMap<string, string> | undefined,
  b: ReadonlyMap<string, string> | undefined,
): boolean {
  if (a?.size !== b?.size) return false;
  for (const [id, state] of a ?? []) if (b?.get(id) !== state) return false;
  return true;
}
