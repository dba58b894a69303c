import { useCluster } from '../../harness/cluster-fixture';
import { MetricsServer } from '../../harness/metrics-server';
import { workload } from '../../harness/workloads';

const { run, apply, read, until } = useCluster([
  '--nodes=1',
  '--storage=memory',
  '--without=kube-proxy,cluster-dns',
  '--extra-config=controller-manager.horizontal-pod-autoscaler-sync-period=1s',
]);
let adapter: MetricsServer;
beforeAll(async () => {
  adapter = await MetricsServer.start();
  await apply(...adapter.objectsToApply);
  await run(
    'wait --for=condition=Available apiservice/v1beta2.custom.metrics.k8s.io apiservice/v1beta1.external.metrics.k8s.io --timeout=120s',
  );
});
afterAll(() => adapter?.stop());

const now = { scaleUp: {}, scaleDown: { stabilizationWindowSeconds: 0 } };
const autoscaler = (name: string, metric: object, spec: object = {}) => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name },
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
    minReplicas: 1,
    maxReplicas: 10,
    behavior: now,
    metrics: [metric],
    ...spec,
  },
});
const external = (name: string, averageValue: string) => ({
  type: 'External',
  external: { metric: { name }, target: { type: 'AverageValue', averageValue } },
});
// Where no node is, Pods cost nothing.
const deployment = (name: string, replicas = 1) =>
  workload('Deployment', name, { replicas }, { spec: { nodeSelector: { nowhere: 'true' } } });
const size = (name: string) => read(`deploy/${name}`, '{.spec.replicas}');
/** `status reason: message` of a condition. */
const condition = (name: string, type: string) =>
  read(`hpa/${name}`, `{range .status.conditions[?(@.type=="${type}")]}{.status} {.reason}: {.message}{end}`);

it('scales by a metric of no object of the cluster, up and down, and tells why', async () => {
  adapter.external.set('queue', '30');
  await apply(deployment('queue'), autoscaler('queue', external('queue', '10')));
  await until(async () => expect(await size('queue')).toBe('3'));
  expect(await condition('queue', 'ScalingActive')).toBe(
    'True ValidMetricFound: the HPA was able to successfully calculate a replica count from external metric queue(nil)',
  );
  await until(async () =>
    expect(await read('events --field-selector reason=SuccessfulRescale', '{.items[0].message}')).toBe(
      'New size: 3; reason: external metric queue(nil) above target',
    ),
  );
  adapter.external.set('queue', '10');
  await until(async () => expect(await size('queue')).toBe('1'));
  await until(async () =>
    expect(await run('get hpa queue --no-headers')).toMatch(/10\/10 \(avg\) +1 +10 +1 /),
  );
});

it('scales by a metric of an object, and by one of its Pods', async () => {
  adapter.objects.set('services/shop/visits', '8');
  const target = { type: 'Value', value: '2' };
  const object = {
    describedObject: { apiVersion: 'v1', kind: 'Service', name: 'shop' },
    metric: { name: 'visits' },
    target,
  };
  await apply(workload('Deployment', 'shop'), workload('Deployment', 'pods'));
  await run('rollout status deploy/shop --timeout=120s');
  await run('rollout status deploy/pods --timeout=120s');
  adapter.pods = [await read('pods -l app=pods', '{.items[0].metadata.name}')];
  adapter.objects.set('pods/*/rate', '500m');
  const ofPods = {
    type: 'Pods',
    pods: { metric: { name: 'rate' }, target: { type: 'AverageValue', averageValue: '250m' } },
  };
  await apply(
    autoscaler('shop', { type: 'Object', object }, { maxReplicas: 4 }),
    autoscaler('pods', ofPods, { maxReplicas: 2 }),
  );
  await until(async () => {
    expect(await size('shop')).toBe('4');
    expect(await size('pods')).toBe('2');
  });
  await run('delete hpa,deploy shop pods');
});

it('goes no further than its limits, and no faster than its policies', async () => {
  adapter.external.set('much', '1000');
  const policies = [{ type: 'Pods', value: 1, periodSeconds: 1800 }];
  await apply(
    deployment('most'),
    autoscaler('most', external('much', '10')),
    deployment('slow'),
    autoscaler('slow', external('much', '10'), { behavior: { scaleUp: { policies } } }),
  );
  await until(async () => {
    expect(await size('most')).toBe('10');
    expect(await condition('most', 'ScalingLimited')).toBe(
      'True TooManyReplicas: the desired replica count is more than the maximum replica count',
    );
    expect(await condition('slow', 'ScalingLimited')).toBe(
      'True ScaleUpLimit: the desired replica count is increasing faster than the maximum scale rate',
    );
  });
  expect(await size('slow')).toBe('2');
});

it('holds what it recommended for its window before it goes down, and never goes down where that is disabled', async () => {
  adapter.external.set('little', '10');
  await apply(
    deployment('holds', 3),
    autoscaler('holds', external('little', '10'), { behavior: {} }),
    deployment('stays', 3),
    autoscaler('stays', external('little', '10'), {
      behavior: { scaleDown: { stabilizationWindowSeconds: 0, selectPolicy: 'Disabled' } },
    }),
  );
  await until(async () => {
    expect(await condition('holds', 'AbleToScale')).toBe(
      'True ScaleDownStabilized: recent recommendations were higher than current one, applying the highest recent recommendation',
    );
    expect(await condition('stays', 'ScalingLimited')).toBe(
      'True ScaleDownLimit: the desired replica count is decreasing faster than the maximum scale rate',
    );
  });
  expect([await size('holds'), await size('stays')]).toEqual(['3', '3']);
});

it('says what it lacks: metrics, a target, or a target that is switched on', async () => {
  await apply(
    deployment('blind'),
    autoscaler('blind', external('unknown', '10')),
    autoscaler('nobody', external('queue', '10')),
    deployment('off', 0),
    autoscaler('off', external('queue', '10')),
  );
  const missing =
    'the HPA was unable to compute the replica count: unable to get external metric default/unknown/nil: no metrics returned from external metrics API';
  await until(async () => {
    expect(await condition('blind', 'ScalingActive')).toBe(`False FailedGetExternalMetric: ${missing}`);
    expect(await condition('nobody', 'AbleToScale')).toBe(
      'False FailedGetScale: the HPA controller was unable to get the target\'s current scale: deployments.apps "nobody" not found',
    );
    expect(await condition('off', 'ScalingActive')).toBe(
      'False ScalingDisabled: scaling is disabled since the replica count of the target is zero',
    );
  });
  const reasons = await read('events --field-selector involvedObject.name=nobody', '{.items[*].reason}');
  expect(reasons).toContain('FailedGetScale');
  expect(await size('blind')).toBe('1');
});
