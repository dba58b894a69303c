import { createClient, type Client } from '@tinkernetes/client';
import {
  createMetrics,
  createStepTracer,
  parseFlags,
  realClock,
  realRandom,
} from '@tinkernetes/component-base';
import { eventually, silentLogger } from '@tinkernetes/component-base/testing';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';
import { createInProcessWorkQueues, type WorkQueueFactory } from '@tinkernetes/workqueue';
import { controllers } from './manager/controllers';
import { SharedKeys } from './manager/shared-keys';
import { startControllers } from './manager/start-controllers';
import { flags } from './options';

/** Flag, upstream's default, controller, and the queue that its workers wait at. */
const wired = [
  ['concurrent-cron-job-syncs', 5, 'cronjob-controller', 'cronjob'],
  ['concurrent-daemonset-syncs', 2, 'daemonset-controller', 'daemonset'],
  ['concurrent-deployment-syncs', 5, 'deployment-controller', 'deployment'],
  ['concurrent-endpoint-syncs', 5, 'endpoints-controller', 'endpoint'],
  ['concurrent-ephemeralvolume-syncs', 5, 'ephemeral-volume-controller', 'ephemeral_volume'],
  ['concurrent-gc-syncs', 20, 'garbage-collector-controller', 'garbage_collector'],
  [
    'concurrent-horizontal-pod-autoscaler-syncs',
    5,
    'horizontal-pod-autoscaler-controller',
    'horizontalpodautoscaler',
  ],
  ['concurrent-job-syncs', 5, 'job-controller', 'job'],
  ['concurrent-namespace-syncs', 10, 'namespace-controller', 'namespace'],
  ['concurrent-rc-syncs', 5, 'replicationcontroller-controller', 'replicationmanager'],
  ['concurrent-replicaset-syncs', 5, 'replicaset-controller', 'replicaset'],
  ['concurrent-resource-claim-syncs', 50, 'resourceclaim-controller', 'resource_claim'],
  ['concurrent-resource-quota-syncs', 5, 'resourcequota-controller', 'resourcequota_primary'],
  ['concurrent-service-endpoint-syncs', 5, 'endpointslice-controller', 'endpoint_slice'],
  [
    'concurrent-serviceaccount-token-syncs',
    5,
    'serviceaccount-token-controller',
    'serviceaccount_tokens_secret',
  ],
  ['concurrent-statefulset-syncs', 5, 'statefulset-controller', 'statefulset'],
  ['concurrent-ttl-after-finished-syncs', 5, 'ttl-after-finished-controller', 'ttl_jobs_to_delete'],
  [
    'mirroring-concurrent-service-endpoint-syncs',
    5,
    'endpointslice-mirroring-controller',
    'endpoint_slice_mirroring',
  ],
] as const;

/** Queues that hand out nothing and count who waits at them. */
function countWorkers(): { workers: Map<string, number>; queues: WorkQueueFactory } {
  const real = createInProcessWorkQueues({ clock: realClock, metrics: createMetrics() });
  const workers = new Map<string, number>();
  return {
    workers,
    queues: {
      create(name) {
        const queue = real.create(name);
        return Object.assign(Object.create(queue), {
          add: () => undefined,
          addAfter: () => undefined,
          get: () => {
            workers.set(name, (workers.get(name) ?? 0) + 1);
            return queue.get();
          },
          shutDown: () => queue.shutDown(),
        });
      },
      close: () => real.close(),
    },
  };
}

describe('--concurrent-*-syncs', () => {
  let server: TestApiServer;
  let client: Client;
  beforeAll(async () => {
    server = await startApiServer();
    client = createClient(server.adminConfig);
  });
  afterAll(async () => {
    client?.close();
    await server?.stop();
  });

  it('names every such flag in the table', () => {
    const ofManager = Object.keys(flags).filter((name) => /concurrent-.*-syncs$/.test(name));
    expect(wired.map(([flag]) => flag).sort()).toEqual(ofManager.sort());
  });

  it.each(wired)("%s is %i unless set, as upstream's", (flag, byDefault) => {
    expect(flags[flag].default).toBe(byDefault);
  });

  it('are the numbers of workers, each of its own controller', async () => {
    const numbers = new Map(wired.map(([flag, , , queue], i) => [queue as string, { flag, number: i + 3 }]));
    const argv = [...numbers.values()].map(({ flag, number }) => `--${flag}=${number}`);
    const names: ReadonlySet<string> = new Set(wired.map(([, , controller]) => controller));
    const chosen = controllers.filter(({ name }) => names.has(name));
    expect(chosen).toHaveLength(wired.length);
    const { workers, queues } = countWorkers();
    const stopping = new AbortController();
    const { signal } = stopping;
    const { ended } = startControllers({
      flags: parseFlags(flags, argv),
      context: {
        signal,
        clock: realClock,
        random: realRandom,
        logger: silentLogger,
        metrics: createMetrics(),
        tracer: createStepTracer({ component: 'kube-controller-manager' }),
        ready: () => undefined,
      },
      config: server.adminConfig,
      client,
      chosen: chosen.map((definition) => ({ ...definition, leaderOnly: false })),
      signal,
      sharing: new SharedKeys({ queues, clock: realClock }),
    });
    try {
      await eventually(() =>
        expect(Object.fromEntries(workers)).toEqual(
          Object.fromEntries([...numbers].map(([queue, { number }]) => [queue, number])),
        ),
      );
    } finally {
      stopping.abort(new Error('test ends'));
      await ended;
    }
  });
});
