import type { NodeSystemInfo, Quantity } from '@tinkernetes/api';
import { readFile, statfs } from 'node:fs/promises';
import { arch, availableParallelism, release, totalmem } from 'node:os';
import { ignoreMissing } from '../volumes/atomic-writer';
import { kubeletVersion } from '../version';

export interface Machine {
  capacity: Record<string, Quantity>;
  allocatable: Record<string, Quantity>;
  memoryBytes: number;
  info: Omit<NodeSystemInfo, 'containerRuntimeVersion'>;
}

/** Memory that is not for Pods: the hard eviction threshold. */
const evictionMemoryBytes = 100 * 1024 * 1024;
const evictionDiskShare = 0.1;

export const architecture = (): string => ({ x64: 'amd64', ia32: '386' })[arch() as string] ?? arch();

/** What the machine has to offer. Source: pkg/kubelet/nodestatus MachineInfo, VersionInfo. */
export async function describeMachine({
  maxPods,
  rootDir,
}: {
  maxPods: number;
  rootDir: string;
}): Promise<Machine> {
  const [machineID, bootID, osRelease, disk] = await Promise.all([
    firstLine('/etc/machine-id'),
    firstLine('/proc/sys/kernel/random/boot_id'),
    readFile('/etc/os-release', 'utf8').catch(ignoreMissing),
    statfs(rootDir),
  ]);
  const memoryBytes = totalmem();
  const diskBytes = disk.blocks * disk.bsize;
  const shared = {
    cpu: String(availableParallelism()),
    'hugepages-1Gi': '0',
    'hugepages-2Mi': '0',
    pods: String(maxPods),
  };
  const kibibytes = (bytes: number) => `${Math.floor(bytes / 1024)}Ki`;
  return {
    memoryBytes,
    capacity: { ...shared, 'ephemeral-storage': kibibytes(diskBytes), memory: kibibytes(memoryBytes) },
    allocatable: {
      ...shared,
      'ephemeral-storage': String(Math.floor(diskBytes * (1 - evictionDiskShare))),
      memory: kibibytes(memoryBytes - evictionMemoryBytes),
    },
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

async function firstLine(path: string): Promise<string> {
  return (await readFile(path, 'utf8').catch(ignoreMissing))?.trim().split('\n')[0] ?? '';
}
