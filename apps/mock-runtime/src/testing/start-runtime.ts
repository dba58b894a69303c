import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createMetrics,
  createStepTracer,
  realClock,
  realRandom,
  type FinishedStep,
} from '@tinkernetes/component-base';
import { silentLogger } from '@tinkernetes/component-base/testing';
import {
  createImageClient,
  createRuntimeClient,
  type ContainerConfig,
  type DeepPartial,
  type ImageClient,
  type PodSandboxConfig,
  type RuntimeClient,
} from '@tinkernetes/cri';
import { createVnetClient, type VnetClient } from '@tinkernetes/vnet';
import type { MockRuntimeOptions } from '../options';
import { run } from '../run';

export interface TestRuntime {
  dir: string;
  runtime: RuntimeClient;
  images: ImageClient;
  vnet: VnetClient;
  /** The spans since the last call. */
  finishedSpans(): Promise<FinishedStep[]>;
  overlayEndpoint: string;
  /** Pulls the image, runs a sandbox with one container, starts it. */
  startPod(pod: TestPod): Promise<StartedPod>;
  log(pod: StartedPod): string;
  /** Runs a shell command in the container; its output, errors included. */
  sh(pod: StartedPod, command: string): Promise<{ output: string; exitCode: number }>;
  stop(): Promise<void>;
}

export interface TestPod {
  name: string;
  image: string;
  command?: string[];
  args?: string[];
  sandbox?: DeepPartial<PodSandboxConfig>;
  container?: DeepPartial<ContainerConfig>;
}

export interface StartedPod {
  name: string;
  sandboxId: string;
  containerId: string;
  ip: string;
}

export interface TestRuntimeOptions extends Partial<MockRuntimeOptions> {
  podCidr?: string;
  /** To start again on what an earlier one left. */
  dir?: string;
}

/** A whole runtime in this process, on sockets of its own. */
export async function startTestRuntime({
  podCidr = '10.244.1.0/24',
  dir = mkdtempSync(join(tmpdir(), 'mock-runtime-')),
  ...options
}: TestRuntimeOptions = {}): Promise<TestRuntime> {
  const controller = new AbortController();
  const spans: FinishedStep[] = [];
  const tracer = createStepTracer({ component: 'mock-runtime' });
  tracer.exportTo(async (steps) => void spans.push(...steps));
  const listen = `unix://${join(dir, 'cri.sock')}`;
  const vnetListen = `unix://${join(dir, 'vnet.sock')}`;
  let stopped: Promise<void> = Promise.resolve();
  const info = await new Promise<Record<string, unknown>>((resolve, reject) => {
    stopped = run(
      {
        listen,
        vnetListen,
        rootDir: join(dir, 'root'),
        nodeName: 'node-1',
        nodeAddress: '172.30.0.11',
        overlayBindAddress: '127.0.0.1',
        hostAliases: ['172.30.0.0/16=127.0.0.1'],
        cniConfDir: join(dir, 'net.d'),
        cniBinDir: join(dir, 'bin'),
        genericImages: false,
        images: undefined,
        csi: undefined,
        ...options,
      },
      {
        signal: controller.signal,
        clock: realClock,
        random: realRandom,
        logger: silentLogger,
        metrics: createMetrics(),
        tracer,
        ready: (ready = {}) => resolve(ready),
      },
    );
    stopped.catch(reject);
  });
  const runtime = createRuntimeClient(listen);
  const images = createImageClient(listen);
  const vnet = createVnetClient(vnetListen);
  await runtime.updateRuntimeConfig({ runtimeConfig: { networkConfig: { podCidr } } });
  const logs = join(dir, 'logs');
  return {
    dir,
    runtime,
    images,
    vnet,
    async finishedSpans() {
      await tracer.flush();
      return spans.splice(0);
    },
    overlayEndpoint: String(info.overlayEndpoint),
    async startPod({ name, image, command = [], args = [], sandbox = {}, container = {} }) {
      const config: DeepPartial<PodSandboxConfig> = {
        metadata: { name, namespace: 'default', uid: `uid-${name}`, attempt: 0 },
        hostname: name,
        logDirectory: join(logs, name),
        ...sandbox,
      };
      await images.pullImage({ image: { image }, sandboxConfig: config });
      const { podSandboxId } = await runtime.runPodSandbox({ config });
      const { containerId } = await runtime.createContainer({
        podSandboxId,
        config: {
          metadata: { name: 'main', attempt: 0 },
          image: { image },
          command,
          args,
          logPath: 'main.log',
          ...container,
        },
        sandboxConfig: config,
      });
      await runtime.startContainer({ containerId });
      const { status } = await runtime.podSandboxStatus({ podSandboxId });
      return { name, sandboxId: podSandboxId, containerId, ip: status?.network?.ip ?? '' };
    },
    log: ({ name }) => readFileSync(join(logs, name, 'main.log'), 'utf8'),
    async sh({ containerId }, command) {
      const { stdout, stderr, exitCode } = await runtime.execSync({
        containerId,
        cmd: ['sh', '-c', command],
      });
      return { output: stdout.toString() + stderr.toString(), exitCode };
    },
    async stop() {
      runtime.close();
      images.close();
      vnet.close();
      controller.abort(new Error('test is over'));
      await stopped;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
