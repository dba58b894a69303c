import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@tinkernetes/component-base/testing';
import { freePort } from './redis-server';

/** A real etcd on loopback, with a folder of its own. */
export class EtcdServer {
  private readonly folder = mkdtempSync(join(tmpdir(), 'etcd-'));
  private child: ChildProcess | undefined;

  private constructor(
    private readonly program: string,
    private readonly ports: { client: number; peer: number },
  ) {}

  static async start(program: string): Promise<EtcdServer> {
    const server = new EtcdServer(program, { client: await freePort(), peer: await freePort() });
    await server.start();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.ports.client}`;
  }

  async start(): Promise<void> {
    const peer = `http://127.0.0.1:${this.ports.peer}`;
    this.child = spawn(
      this.program,
      [
        ...['--data-dir', this.folder, '--log-level', 'error'],
        ...['--listen-client-urls', this.url, '--advertise-client-urls', this.url],
        ...[
          '--listen-peer-urls',
          peer,
          '--initial-advertise-peer-urls',
          peer,
          '--initial-cluster',
          `default=${peer}`,
        ],
      ],
      { stdio: 'ignore' },
    );
    await eventually(async () => {
      const response = await fetch(`${this.url}/health`, { headers: { connection: 'close' } });
      const { health } = (await response.json()) as { health: string };
      return health === 'true';
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

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true });
  }
}
