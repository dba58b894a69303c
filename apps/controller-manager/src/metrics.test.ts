import { Jobs, PersistentVolumeClaims, Pods, Services } from '@tinkernetes/api';
import { eventually } from '@tinkernetes/component-base/testing';
import { podActor, startTestManager, type TestManager } from './testing/test-manager';

const namespace = 'default';
let manager: TestManager;

beforeAll(async () => {
  manager = await startTestManager({ args: ['--allocate-node-cidrs', '--cluster-cidr=10.244.0.0/16'] });
});
afterAll(() => manager.stop());

/** As upstream's kube-controller-manager v1.36 names them. */
const names = {
  workqueue: [
    'depth',
    'adds_total',
    'retries_total',
    'queue_duration_seconds',
    'work_duration_seconds',
    'unfinished_work_seconds',
    'longest_running_processor_seconds',
  ],
  rest_client: ['requests_total', 'request_duration_seconds', 'request_size_bytes'],
  attachdetach_controller: ['forced_detaches', 'total_volumes'],
  cronjob_controller: ['job_creation_skew_duration_seconds'],
  device_taint_eviction_controller: ['pod_deletions_total', 'pod_deletion_duration_seconds'],
  endpoint_slice_controller: [
    'changes',
    'desired_endpoint_slices',
    'endpoints_added_per_sync',
    'endpoints_desired',
    'endpoints_removed_per_sync',
    'endpointslices_changed_per_sync',
    'num_endpoint_slices',
    'services_count_by_traffic_distribution',
    'syncs',
  ],
  endpoint_slice_mirroring_controller: [
    'addresses_skipped_per_sync',
    'changes',
    'desired_endpoint_slices',
    'endpoints_added_per_sync',
    'endpoints_desired',
    'endpoints_removed_per_sync',
    'endpoints_sync_duration',
    'endpoints_updated_per_sync',
    'num_endpoint_slices',
  ],
  ephemeral_volume_controller: ['create_total', 'create_failures_total'],
  garbagecollector_controller: ['resources_sync_error_total'],
  horizontal_pod_autoscaler_controller: [
    'metric_computation_duration_seconds',
    'metric_computation_total',
    'reconciliation_duration_seconds',
    'reconciliations_total',
  ],
  job_controller: [
    'job_finished_indexes_total',
    'job_pods_creation_total',
    'job_pods_finished_total',
    'job_sync_duration_seconds',
    'job_syncs_total',
    'jobs_by_external_controller_total',
    'jobs_finished_total',
    'pod_failures_handled_by_failure_policy_total',
    'terminated_pods_tracking_finalizer_total',
  ],
  node_collector: [
    'evictions_total',
    'unhealthy_nodes_in_zone',
    'update_all_nodes_health_duration_seconds',
    'update_node_health_duration_seconds',
    'zone_health',
    'zone_size',
  ],
  node_ipam_controller: [
    'cidrset_allocation_tries_per_request',
    'cidrset_cidrs_allocations_total',
    'cidrset_cidrs_releases_total',
    'cidrset_usage_cidrs',
    'cirdset_max_cidrs',
  ],
  pod_gc_collector: ['force_delete_pods_total', 'force_delete_pod_errors_total'],
  pv_collector: [
    'bound_pv_count',
    'bound_pvc_count',
    'total_pv_count',
    'unbound_pv_count',
    'unbound_pvc_count',
  ],
  replicaset_controller: ['sorting_deletion_age_ratio'],
  resourceclaim_controller: ['creates_total', 'resource_claims'],
  root_ca_cert_publisher: ['sync_duration_seconds', 'sync_total'],
  statefulset_controller: ['statefulset_max_unavailable', 'statefulset_unavailable_replicas'],
  storage_count: ['attachable_volumes_in_use'],
  taint_eviction_controller: ['pod_deletions_total', 'pod_deletion_duration_seconds'],
  ttl_after_finished_controller: ['job_deletion_duration_seconds'],
  volume_operation_total: ['seconds', 'errors'],
};

it.each(Object.entries(names))('has all metrics of %s', async (subsystem, own) => {
  const text = await manager.metrics();
  const missing = own.filter((name) => !text.includes(`# TYPE ${subsystem}_${name} `));
  expect(missing).toEqual([]);
});

/** Of a metric with these labels, in their order; undefined: there is none. */
async function valueOf(series: string): Promise<number | undefined> {
  const line = (await manager.metrics()).split('\n').find((l) => l.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}
const expectValue = (series: string, value: number) =>
  eventually(async () => expect([series, await valueOf(series)]).toEqual([series, value]));

it('counts what becomes of a Job and of its Pods', async () => {
  const template = {
    spec: { restartPolicy: 'Never' as const, containers: [{ name: 'main', image: 'busybox' }] },
  };
  await manager.client.for(Jobs).create(
    {
      metadata: { name: 'counted' },
      spec: { completions: 1, parallelism: 1, completionMode: 'Indexed', template },
    },
    { namespace },
  );
  const actor = podActor(manager.client, namespace);
  const pod = await eventually(async () => {
    const [first] = await actor.list('job-name=counted');
    if (!first) throw new Error('no Pod yet');
    return first;
  });
  await actor.finish(pod, 0);
  await expectValue(
    'job_controller_jobs_finished_total{completion_mode="Indexed",result="succeeded",reason="CompletionsReached"}',
    1,
  );
  await expectValue('job_controller_job_pods_creation_total{reason="new",status="succeeded"}', 1);
  await expectValue(
    'job_controller_job_pods_finished_total{completion_mode="Indexed",result="succeeded"}',
    1,
  );
  await expectValue('job_controller_job_finished_indexes_total{status="succeeded",backoffLimit="global"}', 1);
  await expectValue('job_controller_terminated_pods_tracking_finalizer_total{event="add"}', 1);
  await expectValue('job_controller_terminated_pods_tracking_finalizer_total{event="delete"}', 1);
});

it('counts claims without a volume, and the endpoints of Services', async () => {
  await manager.client.for(PersistentVolumeClaims).create(
    {
      metadata: { name: 'waits' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'nobody',
        resources: { requests: { storage: '1Gi' } },
      },
    },
    { namespace },
  );
  await expectValue(
    'pv_collector_unbound_pvc_count{namespace="default",storage_class="nobody",volume_attributes_class=""}',
    1,
  );
  await manager.client
    .for(Services)
    .create(
      { metadata: { name: 'web' }, spec: { selector: { app: 'web' }, ports: [{ port: 80 }] } },
      { namespace },
    );
  const web = await manager.client.for(Pods).create(
    {
      metadata: { name: 'web', labels: { app: 'web' } },
      spec: { nodeName: 'n1', containers: [{ name: 'main', image: 'nginx' }] },
    },
    { namespace },
  );
  await podActor(manager.client, namespace).makeReady(web);
  await expectValue('endpoint_slice_controller_endpoints_desired', 1);
  await expectValue('endpoint_slice_controller_desired_endpoint_slices', 1);
});
