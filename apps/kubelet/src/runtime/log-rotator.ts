import type { Clock, Logger } from '@tinkernetes/component-base';
import type { RuntimeClient } from '@tinkernetes/cri';
import { statSync } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ignoreMissing } from '../volumes/atomic-writer';
import type { RuntimeContainer } from './pod-runtime-status';

export interface LogRotatorDeps {
  runtime: Pick<RuntimeClient, 'reopenContainerLog'>;
  clock: Clock;
  logger: Logger;
  /** containerLogMaxSize, in bytes. */
  maxSize: number;
  /** containerLogMaxFiles: the current file and those rotated away. */
  maxFiles: number;
}

/** Keeps containers' logs from filling the disk. Source: pkg/kubelet/logs/container_log_manager.go. */
export class LogRotator {
  constructor(private readonly deps: LogRotatorDeps) {}

  async rotate(containers: Iterable<RuntimeContainer>): Promise<void> {
    for (const container of containers) {
      if (container.state !== 'running' || !container.logPath) continue;
      try {
        // Thousands every ten seconds: by way of another thread each would take ten times as long.
        const file = statSync(container.logPath, { throwIfNoEntry: false });
        if (file && file.size >= this.deps.maxSize) await this.rotateOne(container);
      } catch (error) {
        this.deps.logger.warn({ container: container.name, err: error }, 'log not rotated');
      }
    }
  }

  private async rotateOne({ id, name, logPath }: RuntimeContainer): Promise<void> {
    const { runtime, clock, logger, maxFiles } = this.deps;
    const rotated = await rotatedFiles(logPath);
    const surplus = rotated.slice(0, Math.max(0, rotated.length - (maxFiles - 2)));
    for (const file of surplus) await rm(file, { force: true });
    const target = `${logPath}.${timestamp(clock.now())}`;
    await rename(logPath, target);
    try {
      await runtime.reopenContainerLog({ containerId: id });
    } catch (error) {
      // The container goes on writing to the file that it has open: give it its name back.
      await rename(target, logPath);
      throw error;
    }
    logger.info({ container: name, log: target }, 'log rotated');
  }
}

/** Oldest first, as their names are their times. */
async function rotatedFiles(path: string): Promise<string[]> {
  const directory = dirname(path);
  const names = (await readdir(directory).catch(ignoreMissing)) ?? [];
  return names
    .filter((name) => name.startsWith(`${basename(path)}.`))
    .sort()
    .map((name) => join(directory, name));
}

/** `20260131-120000` */
const timestamp = (now: number): string =>
  new Date(now).toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-');
