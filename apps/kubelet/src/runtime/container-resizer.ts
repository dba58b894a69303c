import type { Container, Pod, ResourceRequirements } from '@tinkernetes/api';
import type { RuntimeClient } from '@tinkernetes/cri';
import { isSidecar } from '../pods/pod-facts';
import { kill, type ContainerKill } from './container-kill';
import {
  findContainer,
  resourceNumbers,
  type PodRuntimeStatus,
  type ResourceNumbers,
  type RuntimeContainer,
} from './pod-runtime-status';
import { linuxResources } from './resources';

interface Applied {
  numbers: ResourceNumbers;
  /** Unknown after a restart of the kubelet, until the container gets something new. */
  resources: ResourceRequirements | undefined;
}

export interface ResizeResult {
  /** Containers whose resizePolicy asks for a restart. */
  restarts: ContainerKill[];
  /** The runtime could not do it; to be tried again. */
  error?: Error;
}

/**
 * In-place resize (KEP-1287): running containers get the CPU and memory that the spec now says, or are restarted where
 * their resizePolicy asks for it.
 */
export class ContainerResizer {
  /** What each container was last given, by its ID. */
  private readonly applied = new Map<string, Applied>();

  constructor(
    private readonly runtime: RuntimeClient,
    private readonly memoryCapacity: number,
  ) {}

  started(containerId: string, pod: Pod, container: Container): void {
    this.applied.set(containerId, {
      numbers: resourceNumbers(linuxResources(pod, container, this.memoryCapacity)),
      resources: container.resources ?? {},
    });
  }

  forget(status: PodRuntimeStatus): void {
    for (const { id } of status.containers) this.applied.delete(id);
  }

  /** What the container has, where that is not what it has been given. */
  actualResources(container: Container, id: string): ResourceRequirements | undefined {
    const actual = this.applied.get(id)?.resources;
    return JSON.stringify(actual) === JSON.stringify(container.resources ?? {}) ? undefined : actual;
  }

  /** Applies what can be applied to running containers; the rest has to be restarted. */
  async resize(pod: Pod, status: PodRuntimeStatus): Promise<ResizeResult> {
    const result: ResizeResult = { restarts: [] };
    for (const container of [...(pod.spec.initContainers ?? []).filter(isSidecar), ...pod.spec.containers]) {
      const current = findContainer(status, container.name);
      if (current?.state !== 'running') continue;
      const linux = linuxResources(pod, container, this.memoryCapacity);
      const wanted = resourceNumbers(linux);
      const changed = changesOf(this.appliedTo(current) ?? wanted, wanted);
      if (changed.some((resource) => restartsFor(container, resource))) {
        result.restarts.push(kill(current, container, 'resize', true));
        continue;
      }
      try {
        if (changed.length > 0)
          await this.runtime.updateContainerResources({ containerId: current.id, linux });
        this.applied.set(current.id, { numbers: wanted, resources: container.resources ?? {} });
      } catch (error) {
        result.error = error as Error;
      }
    }
    return result;
  }

  /** After a restart of the kubelet only the runtime knows. */
  private appliedTo({ id, resources }: RuntimeContainer): ResourceNumbers | undefined {
    const known = this.applied.get(id)?.numbers;
    if (known) return known;
    return resources;
  }
}

function changesOf(before: ResourceNumbers, after: ResourceNumbers): Array<'cpu' | 'memory'> {
  const changes: Array<'cpu' | 'memory'> = [];
  if (before.cpuShares !== after.cpuShares || before.cpuQuota !== after.cpuQuota) changes.push('cpu');
  if (before.memoryLimitInBytes !== after.memoryLimitInBytes) changes.push('memory');
  return changes;
}

const restartsFor = (container: Container, resource: string): boolean =>
  container.resizePolicy?.find((p) => p.resourceName === resource)?.restartPolicy === 'RestartContainer';
