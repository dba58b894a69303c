import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pods, type ContainerStatus, type Pod } from '@tinkernetes/api';
import { createClient, type Client } from '@tinkernetes/client';
import {
  createMetrics,
  createStepTracer,
  parseFlags,
  realClock,
  realRandom,
  type Clock,
} from '@tinkernetes/component-base';
import { silentLogger } from '@tinkernetes/component-base/testing';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';
import { flags, toOptions } from '../options';
import { run } from '../run';

export interface TestManager {
  readonly client: Client;
  readonly server: TestApiServer;
  /** What the manager would serve at `/metrics`. */
  metrics(): Promise<string>;
  stop(): Promise<void>;
}

interface TestManagerOptions {
  args?: readonly string[];
  clock?: Clock;
  /** Flags of the API server. */
  serverFlags?: readonly string[];
}

/** A real API server and a controller manager against it, both in this process; nothing schedules or runs Pods. */
export async function startTestManager({
  serverFlags = [],
  ...options
}: TestManagerOptions = {}): Promise<TestManager> {
  const server = await startApiServer({ flags: serverFlags });
  const manager = startManager(server, options);
  await manager.ready;
  const client = createClient(server.adminConfig);
  return {
    client,
    server,
    metrics: () => manager.metrics(),
    async stop() {
      await manager.stop();
      client.close();
      await server.stop();
    },
  };
}

export interface StartedManager {
  /** Resolves when it leads and all caches are filled. */
  readonly ready: Promise<void>;
  /** What it would serve at `/metrics`. */
  metrics(): Promise<string>;
  /** Resolves when it has ended; rejects with what ended it. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

/** One more controller manager against a server, with the rights of an administrator and the server's authority. */
export function startManager(
  server: TestApiServer,
  { args = [], clock = realClock }: Omit<TestManagerOptions, 'serverFlags'> = {},
): StartedManager {
  const stopping = new AbortController();
  const directory = mkdtempSync(join(tmpdir(), 'tinkernetes-kcm-'));
  const file = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text);
    return join(directory, name);
  };
  const argv = [
    `--kubeconfig=${file('kubeconfig', server.kubeconfig)}`,
    `--cluster-signing-cert-file=${file('ca.crt', server.ca.certificate)}`,
    `--cluster-signing-key-file=${file('ca.key', server.ca.key)}`,
    '--leader-elect=false',
    '--secure-port=0',
    ...args,
  ];
  const metrics = createMetrics();
  let running: Promise<void> = Promise.resolve();
  const ready = new Promise<void>((resolve, reject) => {
    running = run(toOptions(parseFlags(flags, argv)), {
      signal: stopping.signal,
      clock,
      random: realRandom,
      logger: silentLogger,
      metrics,
      tracer: createStepTracer({ component: 'kube-controller-manager' }),
      ready: () => resolve(),
    });
    running.catch(reject);
  });
  return {
    ready,
    metrics: () => metrics.expose(),
    ended: running,
    async stop() {
      stopping.abort(new Error('test ends'));
      await running.finally(() => rmSync(directory, { recursive: true, force: true }));
    },
  };
}

/** What a scheduler and a kubelet do with Pods, reduced to status writes. */
export function podActor(client: Client, namespace: string) {
  let next = 2;
  const setStatus = async (pod: Pod, status: Pod['status']): Promise<void> => {
    const fresh = await client.for(Pods).get(pod.metadata.name, { namespace });
    await client.for(Pods).updateStatus({ ...fresh, status: { ...fresh.status, ...status } }, { namespace });
  };
  const containers = (pod: Pod, state: ContainerStatus['state'], restartCount = 0): ContainerStatus[] =>
    pod.spec.containers.map(({ name, image = '' }) => ({
      name,
      image,
      imageID: '',
      ready: state?.running !== undefined,
      restartCount,
      state,
    }));
  const now = () => new Date().toISOString().replace(/\.\d+Z/, 'Z');
  return {
    list: async (labelSelector: string): Promise<Pod[]> =>
      (await client.for(Pods).list({ namespace, labelSelector })).items,
    makeReady: (pod: Pod): Promise<void> => {
      const ip = `10.244.${next >> 8}.${next++ & 255}`;
      return setStatus(pod, {
        phase: 'Running',
        podIP: ip,
        podIPs: [{ ip }],
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: now() }],
        containerStatuses: containers(pod, { running: { startedAt: now() } }),
      });
    },
    makeUnready: (pod: Pod, restarts = 0): Promise<void> =>
      setStatus(pod, {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: now() }],
        containerStatuses: containers(pod, { running: { startedAt: now() } }, restarts),
      }),
    finish: (
      pod: Pod,
      exitCode: number,
      conditions: NonNullable<Pod['status']>['conditions'] = [],
    ): Promise<void> =>
      setStatus(pod, {
        phase: exitCode === 0 ? 'Succeeded' : 'Failed',
        conditions,
        containerStatuses: containers(pod, { terminated: { exitCode, finishedAt: now() } }),
      }),
    /** Ends the graceful deletion of Pods that no kubelet stops. */
    reap: async (labelSelector: string): Promise<void> => {
      const { items } = await client.for(Pods).list({ namespace, labelSelector });
      const going = items.filter((pod) => pod.metadata.deletionTimestamp);
      await Promise.all(
        going.map((pod) =>
          client
            .for(Pods)
            .delete(pod.metadata.name, { namespace, gracePeriodSeconds: 0 })
            .catch(() => undefined),
        ),
      );
    },
  };
}
