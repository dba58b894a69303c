import type { RuntimeClient } from '@tinkernetes/cri';
import { isCriError } from '@tinkernetes/cri';
import { labels } from './labels';
import {
  emptyPodRuntimeStatus,
  toRuntimeContainer,
  type PodRuntimeStatus,
  type RuntimeContainer,
} from './pod-runtime-status';

/**
 * The runtime's view of each Pod, asked for only when an event (or the kubelet's own action) has made the last answer
 * stale. A Pod nobody touched costs no CRI call.
 */
export class PodCache {
  private readonly entries = new Map<string, PodRuntimeStatus>();
  /** Counts changes per Pod, so that an answer that was overtaken is not kept. */
  private readonly generations = new Map<string, number>();

  constructor(private readonly runtime: RuntimeClient) {}

  /** The next `get` asks the runtime. */
  invalidate(uid: string): void {
    this.entries.delete(uid);
    this.generations.set(uid, (this.generations.get(uid) ?? 0) + 1);
  }

  invalidateAll(): void {
    for (const uid of [...this.entries.keys()]) this.invalidate(uid);
  }

  forget(uid: string): void {
    this.entries.delete(uid);
    this.generations.delete(uid);
  }

  /** As last seen; undefined when that is stale. */
  peek(uid: string): PodRuntimeStatus | undefined {
    return this.entries.get(uid);
  }

  /** Of these Pods, as far as last seen. */
  *containers(uids: Iterable<string>): Generator<RuntimeContainer> {
    for (const uid of uids) yield* this.entries.get(uid)?.containers ?? [];
  }

  async get(uid: string, name = '', namespace = ''): Promise<PodRuntimeStatus> {
    const known = this.entries.get(uid);
    if (known) return known;
    const generation = this.generations.get(uid) ?? 0;
    const status = await inspectPod(this.runtime, { uid, name, namespace });
    if ((this.generations.get(uid) ?? 0) === generation) this.entries.set(uid, status);
    return status;
  }
}

async function inspectPod(
  runtime: RuntimeClient,
  { uid, name, namespace }: { uid: string; name: string; namespace: string },
): Promise<PodRuntimeStatus> {
  const labelSelector = { [labels.podUID]: uid };
  const [{ items }, { containers }] = await Promise.all([
    runtime.listPodSandbox({ filter: { labelSelector } }),
    runtime.listContainers({ filter: { labelSelector } }),
  ]);
  if (items.length === 0 && containers.length === 0) return emptyPodRuntimeStatus(uid, name, namespace);
  const [sandboxes, statuses] = await Promise.all([
    Promise.all(items.map((s) => unlessGone(runtime.podSandboxStatus({ podSandboxId: s.id })))),
    Promise.all(
      containers.map(async (c) => {
        const answer = await unlessGone(runtime.containerStatus({ containerId: c.id }));
        return answer?.status ? toRuntimeContainer(answer.status, c.podSandboxId) : undefined;
      }),
    ),
  ]);
  const byAge = sandboxes
    .flatMap((s) => (s?.status ? [s.status] : []))
    .sort((a, b) => b.createdAt - a.createdAt);
  const newest = byAge[0];
  const network = newest?.state === 'SANDBOX_READY' ? newest.network : null;
  return {
    uid,
    name: newest?.metadata?.name ?? name,
    namespace: newest?.metadata?.namespace ?? namespace,
    sandboxes: byAge,
    containers: statuses
      .flatMap((s) => (s ? [s] : []))
      .sort((a, b) => b.createdAt - a.createdAt || b.restartCount - a.restartCount),
    ips: network?.ip ? [network.ip, ...network.additionalIps.map((a) => a.ip)] : [],
  };
}

/** Between the list and the look something may have been removed. */
async function unlessGone<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isCriError(error, 'NOT_FOUND')) return undefined;
    throw error;
  }
}
