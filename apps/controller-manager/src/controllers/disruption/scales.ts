import type { KubeObject, OwnerReference, Pod } from '@tinkernetes/api';
import { controllerOf, isNotFound } from '@tinkernetes/apimachinery';
import type { Client } from '@tinkernetes/client';
import type { Clock } from '@tinkernetes/component-base';
import type { Lister } from '@tinkernetes/informers';
import { KindMapper } from '../podautoscaler/kind-mapper';

export interface Scalable extends KubeObject {
  spec: { replicas?: number };
}

interface Scaled {
  uid: string;
  replicas: number;
}

export interface ScaleFinderOptions {
  client: Client;
  clock: Clock;
  /** Built-in workloads, by kind; they are asked from caches. */
  scalables: Readonly<Record<string, Lister<Scalable>>>;
}

/** A Pod has a controller that says nowhere how many Pods it wants. */
export class UnscaledPodError extends Error {
  override readonly name = 'UnscaledPodError';
}

export interface ExpectedPods {
  /** What the controllers of the Pods ask for together. */
  expected: number;
  /** Pods without a controller: they count for nothing. */
  unmanaged: readonly Pod[];
}

const builtInGroups: ReadonlySet<string> = new Set(['v1', 'apps/v1']);

/**
 * How many Pods the controllers of some Pods are to have: from a workload's spec, or, where its kind is another's, from
 * its scale subresource. Source: k8s.io/kubernetes/pkg/controller/disruption getExpectedScale, getScaleController.
 */
export class ScaleFinder {
  private readonly kinds: KindMapper;

  constructor(private readonly options: ScaleFinderOptions) {
    this.kinds = new KindMapper(options.client, options.clock);
  }

  /** Throws `UnscaledPodError`. */
  async expectedOf(pods: readonly Pod[], signal: AbortSignal): Promise<ExpectedPods> {
    const byController = new Map<string, Promise<Scaled | undefined>>();
    const managed = pods.filter((pod) => controllerOf(pod));
    const found = await Promise.all(
      managed.map((pod) => {
        const uid = controllerOf(pod)?.uid ?? '';
        const known = byController.get(uid) ?? this.scaleOf(pod, signal);
        byController.set(uid, known);
        return known;
      }),
    );
    const scales = new Map<string, number>();
    for (const [i, scaled] of found.entries()) {
      if (!scaled) throw new UnscaledPodError(`found no controllers for pod "${managed[i]?.metadata.name}"`);
      scales.set(scaled.uid, scaled.replicas);
    }
    return {
      expected: [...scales.values()].reduce((sum, replicas) => sum + replicas, 0),
      unmanaged: pods.filter((pod) => !controllerOf(pod)),
    };
  }

  /** Of a Pod's controller, or of its controller's: a Deployment's, where the ReplicaSet has one. */
  private async scaleOf(pod: Pod, signal: AbortSignal): Promise<Scaled | undefined> {
    const { scalables } = this.options;
    const { namespace } = pod.metadata;
    const owner = controllerOf(pod);
    if (!owner) return undefined;
    if (!scalables[owner.kind] || !builtInGroups.has(owner.apiVersion))
      return this.ask(owner, namespace, signal);
    let scalable = scalables[owner.kind]?.get(owner.name, namespace);
    const parent = scalable && controllerOf(scalable);
    if (parent?.kind === 'Deployment') scalable = scalables['Deployment']?.get(parent.name, namespace);
    return scalable && { uid: scalable.metadata.uid ?? '', replicas: scalable.spec.replicas ?? 1 };
  }

  private async ask(
    { apiVersion, kind, name, uid }: OwnerReference,
    namespace: string | undefined,
    signal: AbortSignal,
  ): Promise<Scaled | undefined> {
    const [descriptor] = await this.kinds.of(apiVersion, kind);
    if (!descriptor) return undefined;
    try {
      const scale = await this.options.client.for(descriptor).getScale(name, { namespace, signal });
      // Another of the same name is not the Pods' controller.
      if (scale.metadata?.uid && scale.metadata.uid !== uid) return undefined;
      return { uid, replicas: scale.spec?.replicas ?? 0 };
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}
