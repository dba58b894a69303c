import type { Clock, Logger } from '@tinkernetes/component-base';
import type { ContainerEventResponse, ContainerEventType, RuntimeClient } from '@tinkernetes/cri';
import { labels } from '../runtime/labels';
import type { PodCache } from '../runtime/pod-cache';

export interface PLEGDeps {
  runtime: RuntimeClient;
  cache: PodCache;
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
  /** Something of the Pod changed in the runtime. */
  onPodChanged(uid: string): void;
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
    try {
      const [sandboxes, containers] = await Promise.all([runtime.listPodSandbox(), runtime.listContainers()]);
      const now = new Map<string, Map<string, string>>();
      const note = (uid: string | undefined, id: string, state: string) => {
        if (!uid) return;
        let states = now.get(uid);
        if (!states) now.set(uid, (states = new Map()));
        states.set(id, state);
      };
      for (const s of sandboxes.items) note(s.metadata?.uid || s.labels[labels.podUID], s.id, s.state);
      for (const c of containers.containers) note(c.labels[labels.podUID], c.id, c.state);
      const before = this.seen;
      this.seen = now;
      for (const uid of new Set([...now.keys(), ...before.keys()])) {
        if (same(now.get(uid), before.get(uid))) continue;
        cache.invalidate(uid);
        onPodChanged(uid);
      }
      onRelist();
    } catch (error) {
      if (!this.deps.signal.aborted) onRelist(error as Error);
    }
  }

  /** Resolves when the stream has ended or could not be opened; true when it had worked. */
  private async followEvents(): Promise<boolean> {
    const { runtime, signal, clock, logger } = this.deps;
    let streaming = false;
    const net = clock.setInterval(() => void this.relist(), safetyNetMs, { unref: true });
    try {
      const events = runtime.getContainerEvents({}, { signal });
      const first = this.relist();
      for await (const event of events) {
        streaming = true;
        this.handle(event);
      }
      await first;
    } catch (error) {
      if (!signal.aborted) logger.debug({ err: error }, 'runtime event stream failed');
    } finally {
      net.cancel();
    }
    return streaming;
  }

  private handle(event: ContainerEventResponse): void {
    const uid = event.podSandboxStatus?.metadata?.uid;
    const { cache, onPodChanged } = this.deps;
    if (!uid) return;
    // What the kubelet did itself it has already looked at.
    if (alreadyKnown(cache, uid, event)) return;
    cache.invalidate(uid);
    onPodChanged(uid);
  }

  private async pause(ms: number): Promise<void> {
    try {
      await this.deps.clock.sleep(Math.min(ms, relistMs), this.deps.signal);
    } catch (error) {
      if (!this.deps.signal.aborted) throw error;
    }
  }
}

const order: Record<ContainerEventType, number> = {
  CONTAINER_CREATED_EVENT: 0,
  CONTAINER_STARTED_EVENT: 1,
  CONTAINER_STOPPED_EVENT: 2,
  CONTAINER_DELETED_EVENT: 3,
};
const reached = { created: 0, running: 1, exited: 2, unknown: -1 };

function alreadyKnown(cache: PodCache, uid: string, event: ContainerEventResponse): boolean {
  const known = cache.peek(uid);
  if (!known) return false;
  const type = order[event.containerEventType];
  const container = known.containers.find((c) => c.id === event.containerId);
  if (container) return reached[container.state] >= type;
  const sandbox = known.sandboxes.find((s) => s.id === event.containerId);
  if (sandbox) return type <= 1 && sandbox.state === 'SANDBOX_READY';
  return event.containerEventType === 'CONTAINER_DELETED_EVENT';
}

function same(
  a: ReadonlyMap<string, string> | undefined,
  b: ReadonlyMap<string, string> | undefined,
): boolean {
  if (a?.size !== b?.size) return false;
  for (const [id, state] of a ?? []) if (b?.get(id) !== state) return false;
  return true;
}
