import { Pods, type Pod } from '@tinkernetes/api';
import { isAlreadyExists, isNotFound } from '@tinkernetes/apimachinery';
import type { Client } from '@tinkernetes/client';
import type { Logger } from '@tinkernetes/component-base';
import { podAnnotations } from '../runtime/labels';
import { podText } from './pod-facts';

export interface MirrorPodsDeps {
  client: Client;
  logger: Logger;
  signal: AbortSignal;
  nodeName: string;
  nodeUID(): string | undefined;
}

const fullName = ({ metadata }: Pod): string => `${metadata.namespace ?? ''}/${metadata.name}`;

/** Shows static Pods in the API by read-only copies. Source: pkg/kubelet/pod/mirror_client.go. */
export class MirrorPods {
  private readonly mirrors = new Map<string, Pod>();

  constructor(private readonly deps: MirrorPodsDeps) {}

  observed(mirror: Pod): void {
    this.mirrors.set(fullName(mirror), mirror);
  }

  removed(mirror: Pod): void {
    this.mirrors.delete(fullName(mirror));
  }

  of(staticPod: Pod): Pod | undefined {
    return this.mirrors.get(fullName(staticPod));
  }

  /** Makes the copy where it is missing, and again where it is one of an earlier manifest or is being deleted. */
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
    this.removed(mirror);
  }
}
