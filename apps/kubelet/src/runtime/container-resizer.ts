import type { Container, Pod } from '@tinkernetes/api';
import type { DeepPartial, LinuxContainerResources, RuntimeClient } from '@tinkernetes/cri';
import { isSidecar } from '../pods/pod-facts';
import { kill, type ContainerKill } from './container-kill';
import { findContainer, type PodRuntimeStatus, type RuntimeContainer } from './pod-runtime-status';
import { linuxResources } from './resources';

type Applied = Pick<LinuxContainerResources, 'cpuShares' | 'cpuQuota' | 'memoryLimitInBytes'>;

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
    this.applied.set(containerId, pick(linuxResources(pod, container, this.memoryCapacity)));
  }

  forget(status: PodRuntimeStatus): void {
    for (const { id } of status.containers) this.applied.delete(id);
  }

  /** Applies what can be applied to running containers; the rest has to be restarted. */
  async resize(pod: Pod, status: PodRuntimeStatus): Promise<ContainerKill[]> {
    const restarts: ContainerKill[] = [];
    for (const container of [...(pod.spec.initContainers ?? []).filter(isSidecar), ...pod.spec.containers]) {
      const current = findContainer(status, container.name);
      if (current?.state !== 'running') continue;
      const wanted = pick(linuxResources(pod, container, this.memoryCapacity));
      const changed = changesOf(this.appliedTo(current) ?? wanted, wanted);
      if (changed.length === 0) continue;
      if (changed.some((resource) => restartsFor(container, resource))) {
        restarts.push(kill(current, container, 'resize', true));
        continue;
      }
      await this.runtime.updateContainerResources({
        containerId: current.id,
        linux: linuxResources(pod, container, this.memoryCapacity),
      });
      this.applied.set(current.id, wanted);
    }
    return restarts;
  }

  /** After a restart of the kubelet only the runtime knows. */
  private appliedTo({ id, raw }: RuntimeContainer): Applied | undefined {
    const known = this.applied.get(id);
    if (known) return known;
    const reported = raw.resources?.linux;
    return reported ? pick(reported) : undefined;
  }
}

const pick = ({
  cpuShares = 0,
  cpuQuota = 0,
  memoryLimitInBytes = 0,
}: DeepPartial<LinuxContainerResources>): Applied => ({ cpuShares, cpuQuota, memoryLimitInBytes });

function changesOf(before: Applied, after: Applied): Array<'cpu' | 'memory'> {
  const changes: Array<'cpu' | 'memory'> = [];
  if (before.cpuShares !== after.cpuShares || before.cpuQuota !== after.cpuQuota) changes.push('cpu');
  if (before.memoryLimitInBytes !== after.memoryLimitInBytes) changes.push('memory');
  return changes;
}

const restartsFor = (container: Container, resource: string): boolean =>
  container.resizePolicy?.find((p) => p.resourceName === resource)?.restartPolicy === 'RestartContainer';
