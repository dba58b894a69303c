import {
  CustomResourceDefinitions,
  Deployments,
  Events,
  HorizontalPodAutoscalers,
  Pods,
  type HorizontalPodAutoscaler,
  type HorizontalPodAutoscalerSpec,
  type Pod,
  type ResourceDescriptor,
} from '@tinkernetes/api';
import { ignoreNotFound } from '@tinkernetes/apimachinery';
import { eventually } from '@tinkernetes/component-base/testing';
import { podActor, startTestManager, type TestManager } from './testing/test-manager';

const namespace = 'default';
/** The metrics API, as objects that this test writes: the controller reads them by the same paths. */
const podMetrics: ResourceDescriptor = {
  group: 'metrics.k8s.io',
  version: 'v1beta1',
  resource: 'pods',
  kind: 'PodMetrics',
  namespaced: true,
};
let manager: TestManager;

beforeAll(async () => {
  manager = await startTestManager({
    args: [
      '--horizontal-pod-autoscaler-sync-period=100ms',
      '--horizontal-pod-autoscaler-downscale-stabilization=0s',
      '--horizontal-pod-autoscaler-cpu-initialization-period=0s',
    ],
  });
  await manager.client.for(CustomResourceDefinitions).create({
    metadata: {
      name: 'pods.metrics.k8s.io',
      annotations: { 'api-approved.kubernetes.io': 'unapproved, for a test' },
    },
    spec: {
      group: 'metrics.k8s.io',
      scope: 'Namespaced',
      names: { plural: 'pods', singular: 'podmetrics', kind: 'PodMetrics', listKind: 'PodMetricsList' },
      versions: [
        {
          name: 'v1beta1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  });
});
afterAll(() => manager?.stop());

async function createDeployment(name: string, replicas: number): Promise<void> {
  const { client } = manager;
  await client.for(Deployments).create(
    {
      metadata: { name },
      spec: {
        replicas,
        selector: { matchLabels: { app: name } },
        template: {
          metadata: { labels: { app: name } },
          spec: {
            containers: [{ name: 'main', image: 'busybox', resources: { requests: { cpu: '100m' } } }],
          },
        },
      },
    },
    { namespace },
  );
  await eventually(async () => {
    const found = await podActor(client, namespace).list(`app=${name}`);
    expect(found).toHaveLength(replicas);
  });
}

/** Makes the Deployment's Pods ready, each with this CPU use; a Pod that is scaled away meanwhile needs none. */
async function use(name: string, cpu: string): Promise<void> {
  for (const pod of await podActor(manager.client, namespace).list(`app=${name}`))
    await usePod(pod, { app: name }, cpu).catch(ignoreNotFound);
}

async function usePod(pod: Pod, labels: Record<string, string>, cpu: string): Promise<void> {
  const { client } = manager;
  const { name } = pod.metadata;
  if (pod.status?.phase !== 'Running') {
    await podActor(client, namespace).makeReady(pod);
    const status = { startTime: '2026-01-01T00:00:00Z' };
    await client.for(Pods).patch(name, { status }, { type: 'merge', namespace, subresource: 'status' });
  }
  await client.for(podMetrics).delete(name, { namespace }).catch(ignoreNotFound);
  const measured = {
    metadata: { name, labels },
    timestamp: new Date().toISOString(),
    window: '0s',
    containers: [{ name: 'main', usage: { cpu, memory: '1Mi' } }],
  };
  await client.for(podMetrics).create(measured, { namespace });
}

const createAutoscaler = (name: string, spec: Partial<HorizontalPodAutoscalerSpec> = {}) =>
  manager.client.for(HorizontalPodAutoscalers).create(
    {
      metadata: { name },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
        minReplicas: 1,
        maxReplicas: 5,
        metrics: [
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
          },
        ],
        ...spec,
      },
    },
    { namespace },
  );
const eventuallyShows = (name: string, check: (autoscaler: HorizontalPodAutoscaler) => void) =>
  eventually(async () => check(await manager.client.for(HorizontalPodAutoscalers).get(name, { namespace })));
const conditionsOf = ({ status }: HorizontalPodAutoscaler) =>
  Object.fromEntries((status?.conditions ?? []).map((c) => [c.type, `${c.status} ${c.reason ?? ''}`]));
const replicasOf = async (name: string) =>
  (await manager.client.for(Deployments).get(name, { namespace })).spec?.replicas;
const messagesOf = async (name: string, reason: string) =>
  (await manager.client.for(Events).list({ namespace })).items
    .filter((e) => e.involvedObject.name === name && e.reason === reason)
    .map((e) => e.message);

it('scales a Deployment up and down by its CPU use', async () => {
  await createDeployment('web', 2);
  await use('web', '100m');
  await createAutoscaler('web');
  await eventually(async () => expect(await replicasOf('web')).toBe(4));
  await eventuallyShows('web', (autoscaler) => {
    expect(autoscaler.status).toMatchObject({ lastScaleTime: expect.any(String) as string });
    expect(autoscaler.status?.observedGeneration).toBe(autoscaler.metadata.generation);
  });
  await eventually(async () =>
    expect(await messagesOf('web', 'SuccessfulRescale')).toEqual([
      'New size: 4; reason: cpu resource utilization (percentage of request) above target',
    ]),
  );
  await eventually(async () =>
    expect(await podActor(manager.client, namespace).list('app=web')).toHaveLength(4),
  );
  await use('web', '10m');
  await eventually(async () => expect(await replicasOf('web')).toBe(1));
  await eventuallyShows('web', (autoscaler) =>
    expect(conditionsOf(autoscaler)).toMatchObject({ ScalingActive: 'True ValidMetricFound' }),
  );
});

it('says that it has no metrics, and leaves the Deployment as it is', async () => {
  await createDeployment('blind', 2);
  await createAutoscaler('blind');
  await eventuallyShows('blind', (autoscaler) =>
    expect(conditionsOf(autoscaler)).toEqual({
      AbleToScale: 'True SucceededGetScale',
      ScalingActive: 'False FailedGetResourceMetric',
    }),
  );
  expect(await replicasOf('blind')).toBe(2);
  await eventually(async () =>
    expect(await messagesOf('blind', 'FailedGetResourceMetric')).toEqual([
      'failed to get cpu utilization: unable to get metrics for resource cpu: no metrics returned from resource metrics API',
    ]),
  );
});

it.each([
  ['Deployment', 'apps/v1', 'deployments.apps "absent" not found'],
  ['Nothing', 'apps/v1', 'no matches for kind "Nothing" in group "apps"'],
])('says that its target is not there: %s of %s', async (kind, apiVersion, message) => {
  const name = `lost-${kind.toLowerCase()}-${apiVersion.length}`;
  await createAutoscaler(name, { scaleTargetRef: { kind, apiVersion, name: 'absent' } });
  await eventuallyShows(name, ({ status }) =>
    expect(status?.conditions).toEqual([
      expect.objectContaining({
        type: 'AbleToScale',
        status: 'False',
        reason: 'FailedGetScale',
        message: `the HPA controller was unable to get the target's current scale: ${message}`,
      }),
    ]),
  );
});

it('is off while the target has no replicas', async () => {
  await createDeployment('off', 0);
  await createAutoscaler('off');
  await eventuallyShows('off', (autoscaler) =>
    expect(conditionsOf(autoscaler)).toMatchObject({ ScalingActive: 'False ScalingDisabled' }),
  );
  expect(await replicasOf('off')).toBe(0);
});

it('brings the target between its bounds without looking at metrics', async () => {
  await createDeployment('bounds', 1);
  await createAutoscaler('bounds', { minReplicas: 3 });
  await eventually(async () => expect(await replicasOf('bounds')).toBe(3));
  await eventually(async () =>
    expect(await messagesOf('bounds', 'SuccessfulRescale')).toEqual([
      'New size: 3; reason: Current number of replicas below Spec.MinReplicas',
    ]),
  );
});

it('refuses Pods that another autoscaler has already', async () => {
  await createDeployment('shared', 1);
  await use('shared', '50m');
  await createAutoscaler('shared');
  await eventuallyShows('shared', (autoscaler) =>
    expect(conditionsOf(autoscaler)).toMatchObject({ ScalingActive: 'True ValidMetricFound' }),
  );
  await createAutoscaler('rival', {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'shared' },
  });
  await eventuallyShows('rival', (autoscaler) =>
    expect(conditionsOf(autoscaler)).toMatchObject({ ScalingActive: 'False AmbiguousSelector' }),
  );
});

it('does not take Pods away for one metric when another is missing', async () => {
  await createDeployment('partial', 2);
  await use('partial', '1m');
  await createAutoscaler('partial', {
    metrics: [
      {
        type: 'Resource',
        resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
      },
      {
        type: 'Pods',
        pods: { metric: { name: 'qps' }, target: { type: 'AverageValue', averageValue: '1' } },
      },
    ],
  });
  await eventuallyShows('partial', (autoscaler) => {
    expect(conditionsOf(autoscaler)).toMatchObject({ ScalingActive: 'False FailedGetPodsMetric' });
    expect(autoscaler.status?.currentReplicas).toBe(2);
  });
  expect(await replicasOf('partial')).toBe(2);
  expect(
    (await manager.client.for(Pods).list({ namespace, labelSelector: 'app=partial' })).items,
  ).toHaveLength(2);
});

it('scales whatever has a scale subresource', async () => {
  const { client } = manager;
  const farms: ResourceDescriptor = {
    group: 'example.com',
    version: 'v1',
    resource: 'farms',
    kind: 'Farm',
    namespaced: true,
  };
  await client.for(CustomResourceDefinitions).create({
    metadata: { name: 'farms.example.com' },
    spec: {
      group: farms.group,
      scope: 'Namespaced',
      names: { plural: 'farms', singular: 'farm', kind: 'Farm', listKind: 'FarmList' },
      versions: [
        {
          name: farms.version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          subresources: { scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
        },
      ],
    },
  });
  const farm = { metadata: { name: 'corn' }, spec: { size: 9 } };
  await eventually(() => client.for(farms).create(farm, { namespace }));
  // Another version of the group than the one that there is: the kind decides.
  await createAutoscaler('corn', {
    scaleTargetRef: { apiVersion: 'example.com/v1beta1', kind: 'Farm', name: 'corn' },
  });
  await eventually(async () =>
    expect(await client.for(farms).get('corn', { namespace })).toMatchObject({ spec: { size: 5 } }),
  );
  await eventuallyShows('corn', ({ status }) =>
    expect(status).toMatchObject({ currentReplicas: 5, desiredReplicas: 5 }),
  );
});
