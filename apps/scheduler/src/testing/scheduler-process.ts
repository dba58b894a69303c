import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClientConfig } from '@tinkernetes/client';
import { kubeconfigText } from '@tinkernetes/testing';
import { build } from 'esbuild';

/** Schedulers as processes of their own, which can be killed. */
export class SchedulerProcesses {
  private readonly running = new Set<ChildProcess>();

  private constructor(private readonly folder: string) {}

  /** Bundles the scheduler as it is in the sources. */
  static async prepare(config: ClientConfig): Promise<SchedulerProcesses> {
    const folder = mkdtempSync(join(tmpdir(), 'scheduler-process-'));
    writeFileSync(join(folder, 'kubeconfig'), kubeconfigText(config));
    await build({
      entryPoints: [join(__dirname, '../main.ts')],
      outfile: join(folder, 'scheduler.cjs'),
      bundle: true,
      platform: 'node',
      format: 'cjs',
      target: 'node20',
      tsconfig: join(__dirname, '../../../../tsconfig.base.json'),
      logLevel: 'error',
    });
    return new SchedulerProcesses(folder);
  }

  start(flags: readonly string[]): ChildProcess {
    const argv = [join(this.folder, 'scheduler.cjs'), `--kubeconfig=${join(this.folder, 'kubeconfig')}`];
    const child = spawn(process.execPath, [...argv, ...flags], { stdio: 'ignore' });
    this.running.add(child);
    child.once('exit', () => this.running.delete(child));
    return child;
  }

  async stop(): Promise<void> {
    await Promise.all(
      [...this.running].map(
        (child) =>
          new Promise((resolve) => {
            child.once('exit', resolve);
            child.kill('SIGKILL');
          }),
      ),
    );
    rmSync(this.folder, { recursive: true });
  }
}
