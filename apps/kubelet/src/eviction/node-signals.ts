import { readFile, statfs } from 'node:fs/promises';
import { freemem, totalmem } from 'node:os';
import { ignoreMissing } from '../volumes/atomic-writer';
import type { Observation, Signal } from './thresholds';

/** What the machine has left. A signal that it does not offer is left out. */
export async function observeNode(rootDir: string): Promise<Map<Signal, Observation>> {
  const [disk, pids] = await Promise.all([statfs(rootDir), observePids()]);
  return new Map<Signal, Observation>([
    ['memory.available', { available: freemem(), capacity: totalmem() }],
    ['nodefs.available', { available: disk.bavail * disk.bsize, capacity: disk.blocks * disk.bsize }],
    // File systems that make inodes as needed tell none.
    ...(disk.files > 0
      ? [['nodefs.inodesFree', { available: disk.ffree, capacity: disk.files }] as const]
      : []),
    ...(pids ? [['pid.available', pids] as const] : []),
  ]);
}

async function observePids(): Promise<Observation | undefined> {
  const [max, load] = await Promise.all(
    ['/proc/sys/kernel/pid_max', '/proc/loadavg'].map((path) => readFile(path, 'utf8').catch(ignoreMissing)),
  );
  const running = load?.split(' ')[3]?.split('/')[1];
  if (max === undefined || running === undefined) return undefined;
  return { capacity: Number(max), available: Number(max) - Number(running) };
}
