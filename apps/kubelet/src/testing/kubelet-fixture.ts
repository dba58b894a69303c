import { Namespaces, Nodes, Pods, ServiceAccounts, type Pod, type PodCondition } from '@tinkernetes/api';
import { createClient, type Client } from '@tinkernetes/client';
import {
  createMetrics,
  createStepTracer,
  parseFlags,
  realClock,
  realRandom,
} from '@tinkernetes/component-base';
import { eventually, silentLogger } from '@tinkernetes/component-base/testing';
import { kubeconfigText, startApiServer, type TestApiServer } from '@tinkernetes/testing';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { flags, toOptions } from '../options';
import { run } from '../run';
import { FakeRuntime } from './fake-runtime';

export const nodeName = 'node-1';

/** A real API server, a kubelet and a runtime that does as the test says. */
export class KubeletFixture {
  port = 0;
  private stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();

  private constructor(
    readonly apiServer: TestApiServer,
    readonly client: Client,
    readonly directory: string,
    readonly runtime: FakeRuntime,
  ) {}

  /** `groups`: of the kubelet's user. */
  static async create(groups: readonly string[] = ['system:nodes']): Promise<KubeletFixture> {
    const apiServer = await startApiServer();
    const client = createClient(apiServer.adminConfig);
    await client
      .for(Namespaces)
      .create({ metadata: { name: 'kube-node-lease' }, spec: {} })
      .catch(() => undefined);
    await client.for(ServiceAccounts).create({ metadata: { name: 'default' } }, { namespace: 'default' });
    const directory = await mkdtemp(join(tmpdir(), 'kubelet-'));
    const runtime = new FakeRuntime(`unix://${join(directory, 'cri.sock')}`);
    await runtime.start();
    const identity = await apiServer.configFor(`system:node:${nodeName}`, ...groups);
    await writeFile(join(directory, 'kubeconfig'), kubeconfigText(identity));
    await writeFile(join(directory, 'ca.crt'), apiServer.ca.certificate);
    return new KubeletFixture(apiServer, client, directory, runtime);
  }

  /** Starts the kubelet; more flags go before the fixture's own. */
  async start(more: readonly string[] = []): Promise<void> {
    this.stopping = new AbortController();
    const options = await toOptions(
      parseFlags(flags, [
        `--kubeconfig=${join(this.directory, 'kubeconfig')}`,
        `--root-dir=${join(this.directory, 'root')}`,
        `--client-ca-file=${join(this.directory, 'ca.crt')}`,
        `--container-runtime-endpoint=${this.runtime.endpoint}`,
        `--hostname-override=${nodeName}`,
        '--node-ip=172.30.0.11',
        '--port=0',
        '--address=127.0.0.1',
        // Whatever the machine that runs the tests has left.
        '--eviction-hard=memory.available<0%',
        ...more,
      ]),
    );
    await new Promise<void>((resolve, reject) => {
      this.running = run(options, {
        signal: this.stopping.signal,
        clock: realClock,
        random: realRandom,
        logger: silentLogger,
        metrics: createMetrics(),
        tracer: createStepTracer({ component: 'kubelet' }),
        ready: (info) => {
          this.port = Number(info?.port);
          resolve();
        },
      });
      this.running.catch(reject);
    });
  }

  /** What the node IPAM controller does. */
  async assignPodCIDR(): Promise<void> {
    await eventually(() => this.client.for(Nodes).get(nodeName));
    const spec = { podCIDR: '10.244.0.0/24', podCIDRs: ['10.244.0.0/24'] };
    await this.client.for(Nodes).patch(nodeName, { spec }, { type: 'merge' });
    await eventually(async () => {
      const { status } = await this.client.for(Nodes).get(nodeName);
      expect(status?.conditions?.find((c) => c.type === 'Ready')?.status).toBe('True');
    });
  }

  async stop(): Promise<void> {
    this.stopping.abort(new Error('the test says so'));
    await this.running;
  }

  async close(): Promise<void> {
    await this.stop();
    this.runtime.stop();
    this.client.close();
    await this.apiServer.stop();
    await rm(this.directory, { recursive: true, force: true });
  }

  /** A Pod on the node with one container `<name>-main`. */
  create(
    name: string,
    spec: Partial<Pod['spec']> = {},
    metadata: Partial<Pod['metadata']> = {},
  ): Promise<Pod> {
    return this.client.for(Pods).create(
      {
        metadata: { name, namespace: 'default', ...metadata },
        spec: {
          nodeName,
          automountServiceAccountToken: false,
          terminationGracePeriodSeconds: 5,
          containers: [{ name: `${name}-main`, image: 'busybox' }],
          ...spec,
        },
      },
      { namespace: 'default' },
    );
  }

  get(name: string): Promise<Pod> {
    return this.client.for(Pods).get(name, { namespace: 'default' });
  }

  phase(name: string, wanted: string): Promise<Pod> {
    return eventually(async () => {
      const pod = await this.get(name);
      expect(pod.status?.phase).toBe(wanted);
      return pod;
    });
  }
}

export const conditionOf = (pod: Pod, type: string): PodCondition | undefined =>
  pod.status?.conditions?.find((c) => c.type === type);
