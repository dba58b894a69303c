import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port';

/** A real redis-server on loopback with a folder of its own, which can be killed and started again. */
export class RedisServer {
  private readonly folder = mkdtempSync(join(tmpdir(), 'redis-'));
  private child: ChildProcess | undefined;

  private constructor(
    private readonly program: string,
    readonly port: number,
    private readonly settings: readonly string[],
  ) {}

  static async start(
    program: string,
    settings = ['--appendonly', 'yes', '--appendfsync', 'always'],
  ): Promise<RedisServer> {
    const server = new RedisServer(program, await freePort(), settings);
    await server.start();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const flags = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.folder, '--save', ''];
    const child = spawn(this.program, [...flags, ...this.settings], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.child = child;
    await new Promise<void>((resolve, reject) => {
      let output = '';
      child.stdout.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (output.includes('Ready to accept connections')) resolve();
      });
      child.once('exit', () => reject(new Error(`redis-server ended:\n${output}`)));
    });
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.child;
    if (!child) return;
    this.child = undefined;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }

  /** Of the stopped server: takes the last bytes off its log, as if it had been killed amid the write of them. */
  cutLog(bytes: number): void {
    const folder = join(this.folder, 'appendonlydir');
    const newest = readdirSync(folder)
      .filter((file) => file.endsWith('.incr.aof'))
      .sort((a, b) => sequenceOf(a) - sequenceOf(b))
      .at(-1);
    if (newest === undefined) throw new Error(`no log in ${folder}`);
    const file = join(folder, newest);
    truncateSync(file, statSync(file).size - bytes);
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true });
  }
}

/** `appendonly.aof.3.incr.aof` */
const sequenceOf = (file: string): number => Number(file.split('.')[2]);
