import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@tinkernetes/component-base/testing';
import {
  createImageClient,
  createRuntimeClient,
  type ImageClient,
  type RuntimeClient,
} from '@tinkernetes/cri';
import { build } from 'esbuild';

/** A runtime in a process of its own, which can be killed as a machine kills it. */
describe('a runtime that was killed', () => {
  const dir = mkdtempSync(join(tmpdir(), 'killed-'));
  const socket = `unix://${join(dir, 'cri.sock')}`;
  const bundle = join(dir, 'mock-runtime.cjs');
  let child: ChildProcess | undefined;
  let runtime: RuntimeClient;
  let images: ImageClient;

  async function start(): Promise<void> {
    rmSync(join(dir, 'cri.sock'), { force: true });
    child = spawn(
      process.execPath,
      [
        bundle,
        `--listen=${socket}`,
        `--vnet-listen=unix://${join(dir, 'vnet.sock')}`,
        `--root-dir=${join(dir, 'root')}`,
        '--node-address=172.30.0.11',
      ],
      { stdio: 'ignore', env: { ...process.env, NODE_PATH: join(__dirname, '../../../../node_modules') } },
    );
    await eventually(() => expect(existsSync(join(dir, 'cri.sock'))).toBe(true));
    runtime = createRuntimeClient(socket);
    images = createImageClient(socket);
    await runtime.updateRuntimeConfig({ runtimeConfig: { networkConfig: { podCidr: '10.244.7.0/24' } } });
  }

  async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    runtime.close();
    images.close();
    const ended = new Promise((resolve) => child?.once('exit', resolve));
    child?.kill(signal);
    await ended;
    child = undefined;
  }

  beforeAll(async () => {
    await build({
      entryPoints: [join(__dirname, '../main.ts')],
      outfile: bundle,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      target: 'node20',
      tsconfig: join(__dirname, '../../../../tsconfig.base.json'),
      external: ['just-bash', 'esbuild'],
      // From there packages are found by NODE_PATH, which only require looks at.
      supported: { 'dynamic-import': false },
      define: { 'import.meta.url': '__filename' },
      logLevel: 'error',
    });
    await start();
  });
  afterAll(async () => {
    if (child) await end('SIGKILL');
    rmSync(dir, { recursive: true, force: true });
  });

  it('still has its images, sandboxes and addresses, and says of programs that they have ended', async () => {
    const image = { image: 'busybox' };
    await images.pullImage({ image });
    const pod = async (name: string, command: string[]) => {
      const config = {
        metadata: { name, namespace: 'default', uid: name, attempt: 0 },
        logDirectory: join(dir, name),
      };
      const { podSandboxId } = await runtime.runPodSandbox({ config });
      const { containerId } = await runtime.createContainer({
        podSandboxId,
        sandboxConfig: config,
        config: { metadata: { name: 'main', attempt: 0 }, image, command, logPath: 'main.log' },
      });
      await runtime.startContainer({ containerId });
      return { podSandboxId, containerId };
    };
    const ipOf = async (podSandboxId: string) =>
      (await runtime.podSandboxStatus({ podSandboxId })).status?.network?.ip;
    const statusOf = async (containerId: string) => (await runtime.containerStatus({ containerId })).status;

    const done = await pod('done', ['sh', '-c', 'echo finished; exit 4']);
    await eventually(async () => expect((await statusOf(done.containerId))?.state).toBe('CONTAINER_EXITED'));
    const running = await pod('running', ['sh', '-c', 'echo begun; sleep 3600']);
    const created = await runtime.createContainer({
      podSandboxId: running.podSandboxId,
      config: { metadata: { name: 'second', attempt: 0 }, image, command: ['true'] },
    });
    const before = await ipOf(running.podSandboxId);
    await eventually(() => expect(readFileSync(join(dir, 'running/main.log'), 'utf8')).toContain('begun'));

    // Without a pause: what was answered has been written.
    await end('SIGKILL');
    await start();

    expect((await images.listImages({})).images.flatMap(({ repoTags }) => repoTags)).toContain(
      'docker.io/library/busybox:latest',
    );
    expect(await ipOf(running.podSandboxId)).toBe(before);
    expect(await statusOf(done.containerId)).toMatchObject({ state: 'CONTAINER_EXITED', exitCode: 4 });
    expect(await statusOf(running.containerId)).toMatchObject({
      state: 'CONTAINER_EXITED',
      exitCode: 255,
      reason: 'Unknown',
    });
    expect(await statusOf(created.containerId)).toMatchObject({ state: 'CONTAINER_CREATED' });
    await runtime.startContainer({ containerId: created.containerId });
    await eventually(async () =>
      expect(await statusOf(created.containerId)).toMatchObject({ state: 'CONTAINER_EXITED', exitCode: 0 }),
    );
    const next = await pod('next', ['sleep', '3600']);
    expect(await ipOf(next.podSandboxId)).not.toBe(before);
  });
});
