import type { Pod } from '@tinkernetes/api';
import { join } from 'node:path';
import { allContainers, uidOf } from '../pods/pod-facts';
import { podLogDirectory } from '../runtime/sandbox-config';
import type { PodUsage } from '../server/stats-summary';
import type { PodDirectories } from '../volumes/pod-directories';
import type { PodConsumption } from './eviction-manager';
import { diskUsage } from './pod-disk-usage';

/** What the Pods use, from the runtime's statistics and their directories. */
export async function podConsumption(
  pods: readonly Pod[],
  usages: ReadonlyMap<string, PodUsage>,
  at: { directories: PodDirectories; podLogsDir: string },
): Promise<Map<string, PodConsumption>> {
  const all = new Map<string, PodConsumption>();
  for (const pod of pods) all.set(uidOf(pod), await consumptionOf(pod, usages.get(uidOf(pod)), at));
  return all;
}

async function consumptionOf(
  pod: Pod,
  usage: PodUsage | undefined,
  { directories, podLogsDir }: { directories: PodDirectories; podLogsDir: string },
): Promise<PodConsumption> {
  const containers = new Map<string, { memory: number; disk: number }>();
  const logs = podLogDirectory(podLogsDir, pod);
  for (const { container } of allContainers(pod)) {
    const stats = usage?.containers.find((s) => s.attributes?.metadata?.name === container.name);
    containers.set(container.name, {
      memory: stats?.memory?.workingSetBytes?.value ?? 0,
      disk: (stats?.writableLayer?.usedBytes?.value ?? 0) + (await diskUsage(join(logs, container.name))),
    });
  }
  const volumes = new Map<string, number>();
  for (const { name, emptyDir } of pod.spec.volumes ?? []) {
    if (!emptyDir) continue;
    volumes.set(name, await diskUsage(directories.volume(uidOf(pod), 'kubernetes.io/empty-dir', name)));
  }
  return {
    memory: [...containers.values()].reduce((sum, c) => sum + c.memory, 0),
    processes: usage?.sandbox?.linux?.process?.processCount?.value ?? 0,
    containers,
    volumes,
  };
}
