import type { Pod } from '@tinkernetes/api';
import { LruMap } from '@tinkernetes/component-base';
import { podRequests, type Quantity, type ResourceQuantities } from '@tinkernetes/apimachinery';

/** Amounts as plain numbers: CPU in thousandths, the rest in its own unit. */
export class Resources {
  milliCpu = 0;
  memory = 0;
  ephemeralStorage = 0;
  /** Pods that a node takes. */
  pods = 0;
  readonly scalars = new Map<string, number>();

  static of(quantities: ResourceQuantities): Resources {
    const made = new Resources();
    for (const [name, quantity] of quantities) made.set(name, amountOf(name, quantity));
    return made;
  }

  get(name: string): number {
    switch (name) {
      case 'cpu':
        return this.milliCpu;
      case 'memory':
        return this.memory;
      case 'ephemeral-storage':
        return this.ephemeralStorage;
      case 'pods':
        return this.pods;
      default:
        return this.scalars.get(name) ?? 0;
    }
  }

  set(name: string, amount: number): void {
    switch (name) {
      case 'cpu':
        this.milliCpu = amount;
        break;
      case 'memory':
        this.memory = amount;
        break;
      case 'ephemeral-storage':
        this.ephemeralStorage = amount;
        break;
      case 'pods':
        this.pods = amount;
        break;
      default:
        this.scalars.set(name, amount);
    }
  }

  /** Adds `other` `sign` times. */
  add(other: Resources, sign: 1 | -1 = 1): void {
    this.milliCpu += sign * other.milliCpu;
    this.memory += sign * other.memory;
    this.ephemeralStorage += sign * other.ephemeralStorage;
    for (const [name, amount] of other.scalars)
      this.scalars.set(name, (this.scalars.get(name) ?? 0) + sign * amount);
  }

  clone(): Resources {
    const copy = new Resources();
    copy.pods = this.pods;
    copy.add(this);
    return copy;
  }
}

const amountOf = (name: string, quantity: Quantity): number =>
  name === 'cpu' ? quantity.milliValue() : quantity.value();

/** A container without requests counts with these when nodes are scored, so that a node doesn't take them all. */
const defaultMilliCpu = '100m';
const defaultMemory = String(200 * 1024 * 1024);

export interface PodRequests {
  readonly requests: Resources;
  readonly nonZeroRequests: Resources;
}

/** By what they are computed from: Pods of one template share them. Not to be changed. */
const computed = new LruMap<string, PodRequests>(2000);

export function requestsOf(pod: Pod): PodRequests {
  const { containers, initContainers, overhead, resources } = pod.spec ?? {};
  const key = JSON.stringify([
    containers?.map((container) => container.resources),
    initContainers?.map((container) => [container.resources, container.restartPolicy]),
    overhead,
    resources,
  ]);
  return computed.getOrCreate(key, () => ({
    requests: Resources.of(podRequests(pod)),
    nonZeroRequests: nonZeroRequests(pod),
  }));
}

/** Requests of a Pod where each container asks for at least a little. */
function nonZeroRequests(pod: Pod): Resources {
  const { spec } = pod;
  if (!spec) return new Resources();
  const withDefaults = <T extends { resources?: { requests?: Record<string, string | number> } }>(
    container: T,
  ): T => ({
    ...container,
    resources: {
      ...container.resources,
      requests: { cpu: defaultMilliCpu, memory: defaultMemory, ...container.resources?.requests },
    },
  });
  return Resources.of(
    podRequests({
      spec: {
        ...spec,
        containers: spec.containers.map(withDefaults),
        initContainers: spec.initContainers?.map(withDefaults),
      },
    }),
  );
}
