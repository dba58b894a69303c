import { readFile, statfs } from 'node:fs/promises';
import { freemem, totalmem } from 'node:os';
import { ignoreMissing } from '../volumes/atomic-writer';
import type { Observation, Signal } from './thresholds';

/** Where the disks of a node are mounted. */
export interface Disks {
  nodefs: string;
  /** Of read-only image layers, and of containers' writable layers, as the runtime tells them. */
  imagefs?: string;
  containerfs?: string;
}

/** What the machine has left. A signal that it does not offer is left out. */
export async function observeNode(disks: Disks): Promise<Map<Signal, Observation>> {
  const [node, image, container, pids] = await Promise.all([
    observeDisk('nodefs', disks.nodefs),
    observeDisk('imagefs', disks.imagefs),
    observeDisk('containerfs', disks.containerfs),
    observePids(),
  ]);
  return new Map<Signal, Observation>([
    ['memory.available', { available: freemem(), capacity: totalmem() }],
    ...node,
    ...image,
    ...container,
    ...(pids ? [['pid.available', pids] as const] : []),
  ]);
}

async function observeDisk(
  name: 'nodefs' | 'imagefs' | 'containerfs',
  path: string | undefined,
): Promise<Array<[Signal, Observation]>> {
  // A runtime in a mount namespace of its own tells of directories that are not here.
  const disk = path ? await statfs(path).catch(ignoreMissing) : undefined;
  if (!disk) return [];
  const space = { available: disk.bavail * disk.bsize, capacity: disk.blocks * disk.bsize };
  const observed: Array<[Signal, Observation]> = [[`${name}.available`, space]];
  // File systems that make inodes as needed tell none.
  if (disk.files > 0) observed.push([`${name}.inodesFree`, { available: disk.ffree, capacity: disk.files }]);
  return observed;
}

async function observePids(): Promise<Observation | undefined> {
  const [max, load] = await Promise.all(
    ['/proc/sys/kernel/pid_max', '/proc/loadavg'].map((path) => readFile(path, 'utf8').catch(ignoreMissing)),
  );
  const running = load?.split(' ')[3]?.split('/')[1];
  if (max === undefined || running === undefined) return undefined;
  return { capacity: Number(max), available: Number(max) - Number(running) };
}
