import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { ClusterProcess } from './cluster-process';

const runner = join(__dirname, '../../dist/run.cjs');

/** A component that runs alone beside its cluster, as `npm run component NAME` starts it. Nobody starts it again. */
export class ComponentProcess {
  /** With its exit code, or null where a signal has ended it. */
  readonly exited: Promise<number | null>;

  private constructor(private readonly child: ChildProcess) {
    this.exited = new Promise((resolve) => child.once('exit', resolve));
  }

  /** `flags`: of the component, without dashes, e.g. `leader-elect=true`. */
  static start(cluster: ClusterProcess, name: string, flags: readonly string[]): ComponentProcess {
    const extra = flags.map((flag) => `--extra-config=${name}.${flag}`);
    const args = [runner, 'tinkernetes', 'run', name, `--data-dir=${cluster.dataDir}`, ...extra];
    return new ComponentProcess(spawn(process.execPath, args, { stdio: 'ignore' }));
  }

  /** Without waiting: one that is stopped goes on later. */
  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Resolves when it has ended; by default without a chance to clean up. */
  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.child.kill(signal);
    await this.exited;
  }
}
