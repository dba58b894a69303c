import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { TestApiServer } from '@tinkernetes/testing';

/** Controller managers in processes of their own, which can be killed and stopped. */
export class ManagerProcesses {
  private isStopped = false;
  private readonly children = new Set<ChildProcess>();

  private constructor(
    private readonly directory: string,
    private readonly script: string,
    private readonly flags: readonly string[],
  ) {}

  static async create(server: TestApiServer, flags: readonly string[]): Promise<ManagerProcesses> {
    const directory = mkdtempSync(join(tmpdir(), 'tinkernetes-kcm-'));
    const script = join(directory, 'controller-manager.cjs');
    await build({
      entryPoints: [join(__dirname, '../main.ts')],
      outfile: script,
      bundle: true,
      platform: 'node',
      target: 'node20',
      tsconfig: join(__dirname, '../../../../tsconfig.base.json'),
      external: ['@bull-board/*', 'msgpackr-extract', 'bufferutil', 'utf-8-validate'],
      logLevel: 'error',
    });
    const kubeconfig = join(directory, 'kubeconfig');
    writeFileSync(kubeconfig, server.kubeconfig);
    return new ManagerProcesses(directory, script, [
      `--kubeconfig=${kubeconfig}`,
      '--secure-port=0',
      ...flags,
    ]);
  }

  /** One that gives up, since it lost its leadership while the machine was busy, is started again. */
  start(flags: readonly string[] = []): ChildProcess {
    const argv = [this.script, ...this.flags, ...flags];
    const child = spawn(process.execPath, argv, { stdio: 'ignore' });
    this.children.add(child);
    child.once('exit', (code) => {
      if (code !== null && !this.isStopped) this.start(flags);
    });
    return child;
  }

  get running(): ChildProcess[] {
    return [...this.children].filter(isRunning);
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all([...this.children].map(ended));
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Ends a process, one that is stopped too. */
export async function ended(child: ChildProcess): Promise<void> {
  if (!isRunning(child)) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await exited;
}

const isRunning = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode === null && signalCode === null;
