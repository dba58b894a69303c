import type { NodeSystemInfo } from '@tinkernetes/api';
import type { Quantity } from '@tinkernetes/apimachinery';
import { readFile, statfs } from 'node:fs/promises';
import { arch, availableParallelism, release, totalmem } from 'node:os';
import { amountOf, type Signal, type Threshold } from '../eviction/thresholds';
import type { Options } from '../options';
import { ignoreMissing } from '../volumes/atomic-writer';
import { kubeletVersion } from '../version';
import { allocatableOf, type Reserved } from './reserved';

export interface Machine {
  capacity: Record<string, string>;
  allocatable: Record<string, string>;
  memoryBytes: number;
  info: Omit<NodeSystemInfo, 'containerRuntimeVersion'>;
}

export const architecture = (): string => ({ x64: 'amd64', ia32: '386' })[arch() as string] ?? arch();

/** What the machine has to offer. Source: pkg/kubelet/nodestatus MachineInfo, VersionInfo. */
export async function describeMachine({
  maxPods,
  rootDir,
  reserved,
  evictionThresholds,
}: Pick<Options, 'maxPods' | 'rootDir' | 'reserved' | 'evictionThresholds'>): Promise<Machine> {
  const [machineID, bootID, osRelease, disk] = await Promise.all([
    firstLine('/etc/machine-id'),
    firstLine('/proc/sys/kernel/random/boot_id'),
    readFile('/etc/os-release', 'utf8').catch(ignoreMissing),
    statfs(rootDir),
  ]);
  const memoryBytes = totalmem();
  const diskBytes = disk.blocks * disk.bsize;
  const kibibytes = (bytes: number) => `${Math.floor(bytes / 1024)}Ki`;
  const capacity = {
    cpu: String(availableParallelism()),
    'ephemeral-storage': kibibytes(diskBytes),
    'hugepages-1Gi': '0',
    'hugepages-2Mi': '0',
    memory: kibibytes(memoryBytes),
    pods: String(maxPods),
  };
  const forEviction = hardEvictionReserve(evictionThresholds, {
    'memory.available': { resource: 'memory', bytes: memoryBytes },
    'nodefs.available': { resource: 'ephemeral-storage', bytes: diskBytes },
  });
  return {
    memoryBytes,
    capacity,
    allocatable: allocatableOf(capacity, [...reserved, forEviction]),
    info: {
      architecture: architecture(),
      bootID,
      kernelVersion: release(),
      kubeProxyVersion: '',
      kubeletVersion,
      machineID,
      operatingSystem: 'linux',
      osImage: /^PRETTY_NAME="?([^"\n]*)"?$/m.exec(osRelease ?? '')?.[1] ?? 'Linux',
      systemUUID: machineID,
    },
  };
}

/** What has to stay free of memory and disk is not for Pods. */
function hardEvictionReserve(
  thresholds: readonly Threshold[],
  signals: Readonly<Partial<Record<Signal, { resource: string; bytes: number }>>>,
): Reserved {
  const reserve = new Map<string, Quantity>();
  for (const { signal, value, gracePeriodMs } of thresholds) {
    const of = signals[signal];
    if (!of || gracePeriodMs > 0) continue;
    reserve.set(of.resource, amountOf(value, { available: of.bytes, capacity: of.bytes }));
  }
  return reserve;
}

async function firstLine(path: string): Promise<string> {
  return (await readFile(path, 'utf8').catch(ignoreMissing))?.trim().split('\n')[0] ?? '';
}
