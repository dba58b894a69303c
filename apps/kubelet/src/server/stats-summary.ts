import type { ContainerStats, CpuUsage, MemoryUsage, PodSandboxStats } from '@tinkernetes/cri';
import { isCriError } from '@tinkernetes/cri';
import { formatTime } from '@tinkernetes/component-base';
import { freemem, loadavg, totalmem, uptime } from 'node:os';
import type { Pod } from '@tinkernetes/api';
import type { Observation, Signal } from '../eviction/thresholds';
import type { NodeAgent } from '../node-agent';
import { uidOf } from '../pods/pod-facts';
import type { ServerDeps } from './endpoint';

const time = (nanoseconds: number): string => formatTime(nanoseconds / 1e6);

const cpu = (usage: CpuUsage | null | undefined) =>
  usage && {
    time: time(usage.timestamp),
    usageNanoCores: usage.usageNanoCores?.value ?? 0,
    usageCoreNanoSeconds: usage.usageCoreNanoSeconds?.value ?? 0,
  };

const memory = (usage: MemoryUsage | null | undefined) =>
  usage && {
    time: time(usage.timestamp),
    usageBytes: usage.usageBytes?.value ?? 0,
    workingSetBytes: usage.workingSetBytes?.value ?? 0,
    rssBytes: usage.rssBytes?.value ?? 0,
    pageFaults: usage.pageFaults?.value ?? 0,
    majorPageFaults: usage.majorPageFaults?.value ?? 0,
  };

function container(stats: ContainerStats, startedAt: number | undefined) {
  return {
    name: stats.attributes?.metadata?.name ?? '',
    startTime: startedAt ? formatTime(startedAt) : undefined,
    cpu: cpu(stats.cpu),
    memory: memory(stats.memory),
    rootfs: stats.writableLayer && {
      time: time(stats.writableLayer.timestamp),
      usedBytes: stats.writableLayer.usedBytes?.value ?? 0,
      inodesUsed: stats.writableLayer.inodesUsed?.value ?? 0,
    },
  };
}

export interface PodUsage {
  sandbox: PodSandboxStats | undefined;
  containers: readonly ContainerStats[];
}

/** Of the node's own Pods, by UID. A runtime without sandbox statistics gives those of containers only. */
export async function podUsages(
  { runtime }: Pick<ServerDeps, 'runtime'>,
  agent: Pick<NodeAgent, 'hasPod'>,
): Promise<Map<string, PodUsage>> {
  const usages = new Map<string, PodUsage>();
  try {
    const { stats } = await runtime.listPodSandboxStats();
    for (const sandbox of stats) {
      const uid = sandbox.attributes?.metadata?.uid;
      if (uid && agent.hasPod(uid)) usages.set(uid, { sandbox, containers: sandbox.linux?.containers ?? [] });
    }
    return usages;
  } catch (error) {
    if (!isCriError(error, 'UNIMPLEMENTED')) throw error;
  }
  const { stats } = await runtime.listContainerStats();
  for (const one of stats) {
    const uid = one.attributes?.labels['io.kubernetes.pod.uid'];
    if (!uid || !agent.hasPod(uid)) continue;
    const known = usages.get(uid);
    usages.set(uid, { sandbox: undefined, containers: [...(known?.containers ?? []), one] });
  }
  return usages;
}

/** GET /stats/summary: what the metrics server and `kubectl top` read. Source: k8s.io/kubelet/pkg/apis/stats/v1alpha1. */
export async function serveStatsSummary(deps: ServerDeps, agent: NodeAgent): Promise<object> {
  const usages = await podUsages(deps, agent);
  const now = deps.context.clock.now();
  const disks = disksOf(await agent.observe(), now);
  const pods = agent.podList().flatMap((pod) => {
    const usage = usages.get(uidOf(pod));
    if (!usage) return [];
    const linux = usage.sandbox?.linux;
    const interfaces = linux?.network?.interfaces ?? [];
    const main = linux?.network?.defaultInterface;
    return [
      {
        podRef: { name: pod.metadata.name, namespace: pod.metadata.namespace, uid: uidOf(pod) },
        startTime: pod.status?.startTime,
        containers: usage.containers.map((stats) => container(stats, startOf(agent, pod, stats))),
        cpu: cpu(linux?.cpu),
        memory: memory(linux?.memory),
        ...(main
          ? {
              network: {
                time: time(linux?.network?.timestamp ?? 0),
                name: main.name,
                rxBytes: main.rxBytes?.value ?? 0,
                txBytes: main.txBytes?.value ?? 0,
                interfaces: [main, ...interfaces].map((i) => ({
                  name: i.name,
                  rxBytes: i.rxBytes?.value ?? 0,
                  txBytes: i.txBytes?.value ?? 0,
                })),
              },
            }
          : {}),
        process_stats: { process_count: linux?.process?.processCount?.value ?? 0 },
      },
    ];
  });
  return {
    node: {
      nodeName: deps.options.nodeName,
      startTime: formatTime(now - uptime() * 1000),
      ...nodeUsage(usages, now),
      ...disks,
    },
    pods,
  };
}

function startOf(agent: NodeAgent, pod: Pod, { attributes }: ContainerStats): number | undefined {
  const known = agent.cache.peek(uidOf(pod))?.containers;
  return known?.find(({ id }) => id === attributes?.id)?.startedAt;
}

/** `nodefs` and `imagefs` are one where the runtime tells of no disk of its own. */
function disksOf(signals: ReadonlyMap<Signal, Observation>, now: number) {
  const disk = (name: 'nodefs' | 'imagefs') => {
    const space = signals.get(`${name}.available`);
    const inodes = signals.get(`${name}.inodesFree`);
    return (
      space && {
        time: formatTime(now),
        availableBytes: space.available,
        capacityBytes: space.capacity,
        usedBytes: space.capacity - space.available,
        ...(inodes && {
          inodesFree: inodes.available,
          inodes: inodes.capacity,
          inodesUsed: inodes.capacity - inodes.available,
        }),
      }
    );
  };
  const fs = disk('nodefs');
  const pids = signals.get('pid.available');
  return {
    fs,
    runtime: { imageFs: disk('imagefs') ?? fs },
    rlimit: pids && {
      time: formatTime(now),
      maxpid: pids.capacity,
      curproc: pids.capacity - pids.available,
    },
  };
}

/** CPU is the sum of the Pods', which is what an emulated node has; memory is the machine's. */
export function nodeUsage(usages: ReadonlyMap<string, PodUsage>, now: number) {
  let nanoCores = 0;
  let coreNanoSeconds = 0;
  for (const { containers } of usages.values()) {
    for (const one of containers) {
      nanoCores += one.cpu?.usageNanoCores?.value ?? 0;
      coreNanoSeconds += one.cpu?.usageCoreNanoSeconds?.value ?? 0;
    }
  }
  const used = totalmem() - freemem();
  return {
    cpu: { time: formatTime(now), usageNanoCores: nanoCores, usageCoreNanoSeconds: coreNanoSeconds },
    memory: { time: formatTime(now), availableBytes: freemem(), usageBytes: used, workingSetBytes: used },
    loadAverage: loadavg()[0],
  };
}
