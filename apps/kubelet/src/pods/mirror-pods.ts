import { Pods, type Pod } from '@tinkernetes/api';
import { isAlreadyExists, isNotFound } from '@tinkernetes/apimachinery';
import type { Client } from '@tinkernetes/client';
import type { Clock, Logger } from '@tinkernetes/component-base';
import { podAnnotations } from '../runtime/labels';
import { podText } from './pod-facts';

export interface MirrorPodsDeps {
  client: Client;
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
  nodeName: string;
  nodeUID(): string | undefined;
}

/** Who deletes a mirror and waits for its end (as kubectl does) asks by its name: there is time to see that it is gone. */
const pauseMs = 1000;

const fullName = ({ metadata }: Pod): string => `${metadata.namespace ?? ''}/${metadata.name}`;

/** Shows static Pods in the API by read-only copies. Source: pkg/kubelet/pod/mirror_client.go. */
export class MirrorPods {
  private readonly mirrors = new Map<string, Pod>();
  /** When a mirror went that others deleted, by name. */
  private readonly goneAt = new Map<string, number>();

  constructor(private readonly deps: MirrorPodsDeps) {}

  observed(mirror: Pod): void {
    this.mirrors.set(fullName(mirror), mirror);
  }

  removed(mirror: Pod): void {
    if (this.of(mirror)?.metadata.uid === mirror.metadata.uid) this.gone(mirror);
  }

  /** Milliseconds until a mirror that somebody deleted may be made again. */
  pauseLeft(pod: Pod): number {
    const at = this.goneAt.get(fullName(pod));
    if (at === undefined) return 0;
    const left = at + pauseMs - this.deps.clock.monotonic();
    if (left <= 0) this.goneAt.delete(fullName(pod));
    return Math.max(0, left);
  }

  private gone(mirror: Pod): void {
    this.mirrors.delete(fullName(mirror));
    this.goneAt.set(fullName(mirror), this.deps.clock.monotonic());
  }

  of(staticPod: Pod): Pod | undefined {
    return this.mirrors.get(fullName(staticPod));
  }

  /** Makes the copy where it is missing, and again where it is one of an earlier manifest; helps one that is being deleted to its end. */
  async ensure(staticPod: Pod): Promise<void> {
    const { client, nodeName, nodeUID, logger, signal } = this.deps;
    const uid = nodeUID();
    // Not registered yet: the mirror comes once it has an owner.
    if (!uid) return;
    const hash = staticPod.metadata.annotations?.[podAnnotations.configHash] ?? '';
    const current = this.of(staticPod);
    if (
      current?.metadata.annotations?.[podAnnotations.configMirror] === hash &&
      !current.metadata.deletionTimestamp
    )
      return;
    if (current) await this.remove(current);
    if (current?.metadata.deletionTimestamp) return this.gone(current);
    if (this.pauseLeft(staticPod) > 0) return;
    const { name, namespace, labels, annotations } = staticPod.metadata;
    const owner = { apiVersion: 'v1', kind: 'Node', name: nodeName, uid, controller: true };
    try {
      const mirror = await client.for(Pods).create(
        {
          metadata: {
            name,
            namespace,
            labels,
            annotations: { ...annotations, [podAnnotations.configMirror]: hash },
            ownerReferences: [owner],
          },
          spec: staticPod.spec,
        },
        { namespace, signal },
      );
      this.observed(mirror);
      logger.info({ pod: podText(staticPod) }, 'mirror pod created');
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }

  /** Copies whose static Pod is no longer on the node. */
  async removeOrphans(pods: readonly Pod[]): Promise<void> {
    const names = new Set(pods.map(fullName));
    for (const mirror of [...this.mirrors.values()])
      if (!names.has(fullName(mirror))) await this.remove(mirror);
  }

  async remove(mirror: Pod): Promise<void> {
    const { name, namespace, uid } = mirror.metadata;
    try {
      await this.deps.client.for(Pods).delete(name, {
        namespace,
        gracePeriodSeconds: 0,
        preconditions: { uid },
        signal: this.deps.signal,
      });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    this.mirrors.delete(fullName(mirror));
  }
}
