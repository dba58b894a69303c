import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Why tests with a real Redis can't run here, or undefined. */
export function redisMissing(): string | undefined {
  return spawnSync('redis-server', ['--version']).error ? 'redis-server is not installed' : undefined;
}

export interface TestRedis {
  url: string;
  stop(): Promise<void>;
}

/** A redis-server of our own on loopback, with nothing kept. */
export async function startRedis(): Promise<TestRedis> {
  const port = await freePort();
  const directory = await mkdtemp(join(tmpdir(), 'redis-'));
  const flags = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    directory,
  ];
  const server = spawn('redis-server', flags, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.once('exit', () => reject(new Error('redis-server did not start')));
    server.stdout.on('data', (chunk: Buffer) => {
      if (chunk.toString().includes('Ready to accept connections')) resolve();
    });
  });
  return {
    url: `redis://127.0.0.1:${port}/0`,
    async stop() {
      server.kill('SIGTERM');
      await exited;
      await rm(directory, { recursive: true });
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
