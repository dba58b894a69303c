import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(__dirname, '../..');

/** A cluster started as a user starts it (`npm start`), in a data directory of its own. */
export class ClusterProcess {
  private constructor(
    readonly dataDir: string,
    private readonly child: ChildProcess,
    /** What it printed so far. */
    private readonly output: { stdout: string; stderr: string },
  ) {}

  /** Resolves when `Cluster ready` was printed. */
  static async start(
    args: readonly string[] = [],
    dataDir = mkdtempSync(join(tmpdir(), 'tk-e2e-')),
  ): Promise<ClusterProcess> {
    const child = spawn(
      process.execPath,
      [join(root, 'tools/start.mjs'), '--api-port=0', `--data-dir=${dataDir}`, ...args],
      {
        cwd: root,
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    const output = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
    await new Promise<void>((resolve, reject) => {
      child.stdout.on('data', () => {
        if (output.stdout.includes('Cluster ready in ')) resolve();
      });
      child.once('exit', (code) =>
        reject(new Error(`the cluster ended with ${code}:\n${output.stdout}${output.stderr}`)),
      );
    });
    return new ClusterProcess(dataDir, child, output);
  }

  get kubeconfig(): string {
    return join(this.dataDir, 'kubeconfig');
  }

  get stdout(): string {
    return this.output.stdout;
  }

  get stderr(): string {
    return this.output.stderr;
  }

  get pid(): number {
    if (this.child.pid === undefined) throw new Error('the cluster process was never started');
    return this.child.pid;
  }

  /** Ctrl-C; resolves with the exit code. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return this.child.exitCode;
    const exited = new Promise<number | null>((resolve) => this.child.once('exit', resolve));
    this.child.kill(signal);
    return exited;
  }

  async stopAndRemove(): Promise<void> {
    await this.stop();
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}
