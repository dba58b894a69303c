import type { HorizontalPodAutoscaler, ResourceDescriptor, Scale } from '@tinkernetes/api';
import { isConflict } from '@tinkernetes/apimachinery';
import type { Client } from '@tinkernetes/client';
import type { KindMapper } from './kind-mapper';

const conflictRetries = 5;

/** What an autoscaler scales: its resource, and its scale as it is now. */
export interface ScaleTarget {
  descriptor: ResourceDescriptor;
  scale: Scale;
}

/** Reads and writes scale subresources of any kind. */
export class ScaleTargets {
  constructor(
    private readonly client: Client,
    private readonly kinds: KindMapper,
  ) {}

  /** By the first version of the kind that has it. */
  async find({ metadata, spec }: HorizontalPodAutoscaler): Promise<ScaleTarget> {
    const { apiVersion = '', kind, name } = spec.scaleTargetRef;
    const { namespace } = metadata;
    let first: unknown;
    for (const descriptor of await this.kinds.of(apiVersion, kind)) {
      try {
        return { descriptor, scale: await this.client.for(descriptor).getScale(name, { namespace }) };
      } catch (error) {
        first ??= error;
      }
    }
    throw first;
  }

  /** Repeated on conflict: the count alone is the autoscaler's. */
  async rescale(
    { descriptor, scale }: ScaleTarget,
    namespace: string | undefined,
    replicas: number,
  ): Promise<void> {
    const { name } = scale.metadata;
    const target = this.client.for(descriptor);
    let current = scale;
    for (let attempt = 1; ; attempt++) {
      try {
        await target.updateScale(name, { ...current, spec: { ...current.spec, replicas } }, { namespace });
        return;
      } catch (error) {
        if (!isConflict(error) || attempt === conflictRetries) throw error;
        current = await target.getScale(name, { namespace });
      }
    }
  }
}
