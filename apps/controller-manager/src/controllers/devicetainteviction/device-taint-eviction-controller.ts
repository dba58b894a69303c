import {
  Pods,
  ResourceClaims,
  ResourceSlices,
  type Pod,
  type ResourceSlice,
  type ResourceV1ResourceClaim as ResourceClaim,
} from '@tinkernetes/api';
import { ignoreNotFound, isPodTerminal, keyOf, setCondition } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import type { ReconcileResult, Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { evictingTaints, poolKey, poolKeyOf } from './device-taints';
import { podEvictionTime } from './eviction-time';

const poolIndex = 'pool';
const allocatedPoolIndex = 'allocatedPool';
const latencyBuckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240];
const eventReason = 'DeviceTaintManagerEviction';

/**
 * Deletes Pods whose devices have a NoExecute taint that their claims do not tolerate (any longer). Watches
 * ResourceSlices, ResourceClaims and Pods; writes Pods.
 * Source: k8s.io/kubernetes/pkg/controller/devicetainteviction, KEP-5055.
 */
export function startDeviceTaintEvictionController(context: ControllerContext): RunnableController {
  const { informers, queues } = context;
  const queue = queues.create('device-taint-eviction-controller');
  const pods = informers.for(Pods);
  const claims = informers.for(ResourceClaims);
  const slices = informers.for(ResourceSlices);
  slices.addIndex(poolIndex, (slice) => [poolKeyOf(slice)]);
  claims.addIndex(allocatedPoolIndex, ({ status }) =>
    (status?.allocation?.devices?.results ?? []).map(({ driver, pool }) => poolKey(driver, pool)),
  );

  const onClaim = ({ metadata, status }: ResourceClaim) => {
    for (const { apiGroup, resource, name } of status?.reservedFor ?? [])
      if (!apiGroup && resource === 'pods') queue.add(`${metadata.namespace ?? ''}/${name}`);
  };
  claims.addEventHandler({
    added: onClaim,
    updated: (before, claim) => {
      onClaim(before);
      onClaim(claim);
    },
    deleted: onClaim,
  });
  const onSlice = (slice: ResourceSlice) =>
    claims.lister.byIndex(allocatedPoolIndex, poolKeyOf(slice)).forEach(onClaim);
  slices.addEventHandler({ added: onSlice, updated: (_, slice) => onSlice(slice), deleted: onSlice });
  const onPod = (pod: Pod) => {
    if (pod.spec.resourceClaims?.length) queue.add(keyOf(pod));
  };
  pods.addEventHandler({
    added: onPod,
    // Its own condition, for one, changes nothing.
    updated: (before, pod) => {
      if (before.spec.nodeName !== pod.spec.nodeName || claimsOf(before) !== claimsOf(pod)) onPod(pod);
    },
    deleted: onPod,
  });

  const reconciler = new DeviceTaintEviction(context, {
    podOf: (key) => pods.lister.getByKey(key),
    timeOf: (pod) =>
      podEvictionTime(pod, {
        claimNamed: (name) => claims.lister.get(name, pod.metadata.namespace),
        taintsOf: ({ driver, pool, device }) =>
          evictingTaints(slices.lister.byIndex(poolIndex, poolKey(driver, pool)), device),
      }),
  });
  return queueController({ context, queue, reconciler, concurrency: 10 });
}

const claimsOf = ({ status }: Pod): string => JSON.stringify(status?.resourceClaimStatuses ?? []);

interface Evictions {
  podOf(key: string): Pod | undefined;
  timeOf(pod: Pod): number | undefined;
}

class DeviceTaintEviction implements Reconciler {
  readonly name = 'device-taint-eviction-controller';
  /** Uids of the Pods that are to go, by key: one that may stay after all is told so. */
  private readonly waiting = new Map<string, string | undefined>();
  private readonly deletions;
  private readonly latency;

  constructor(
    private readonly context: ControllerContext,
    private readonly evictions: Evictions,
  ) {
    this.deletions = context.metrics.counter(
      'device_taint_eviction_controller_pod_deletions_total',
      'Total number of Pods deleted by DeviceTaintEvictionController since its start.',
    );
    this.latency = context.metrics.histogram(
      'device_taint_eviction_controller_pod_deletion_duration_seconds',
      'Latency, in seconds, between the time when a device taint effect has been activated and a Pod’s deletion via DeviceTaintEvictionController.',
      { buckets: latencyBuckets },
    );
  }

  async reconcile(key: string, { signal }: { signal: AbortSignal }): Promise<ReconcileResult | void> {
    const pod = this.evictions.podOf(key);
    if (!pod || pod.metadata.deletionTimestamp || isPodTerminal(pod)) {
      this.waiting.delete(key);
      return;
    }
    const at = this.evictions.timeOf(pod);
    const { clock, recorder } = this.context;
    const wasToGo = this.waiting.get(key) === pod.metadata.uid;
    if (at === undefined) {
      this.waiting.delete(key);
      if (wasToGo) recorder.event(pod, 'Normal', eventReason, 'Cancelling deletion');
      return;
    }
    this.waiting.set(key, pod.metadata.uid);
    const wait = at - clock.now();
    if (wait > 0) return { requeueAfterMs: wait };
    await this.evict(pod, signal);
    this.waiting.delete(key);
    this.deletions.inc();
    this.latency.observe((clock.now() - at) / 1000);
  }

  private async evict(pod: Pod, signal: AbortSignal): Promise<void> {
    const { clock, client, recorder } = this.context;
    const { name, namespace, uid } = pod.metadata;
    const pods = client.for(Pods);
    recorder.event(pod, 'Normal', eventReason, 'Marking for deletion');
    const type = 'DisruptionTarget';
    const conditions = setCondition(pod.status?.conditions, {
      type,
      status: 'True',
      reason: 'DeletionByDeviceTaintManager',
      message: 'Device Taint manager: deleting due to NoExecute taint',
      lastTransitionTime: formatTime(clock.now()),
    }).filter((condition) => condition.type === type);
    // A patch: what others write of the Pod meanwhile is no conflict, after which all of this would be done again.
    const marked = await pods
      .patch(
        name,
        { metadata: { uid }, status: { conditions } },
        { type: 'strategic', subresource: 'status', namespace, signal },
      )
      .catch(ignoreNotFound);
    if (marked) await pods.delete(name, { namespace, preconditions: { uid }, signal }).catch(ignoreNotFound);
  }
}
