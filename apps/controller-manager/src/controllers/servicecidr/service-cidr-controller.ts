import { IPAddresses, ServiceCIDRs, type IPAddress, type ServiceCIDR } from '@tinkernetes/api';
import { findCondition, ignoreNotFound, keyOf, setCondition } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import type { ReconcileResult, Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { overlap, wouldLeaveOrphans } from './coverage';

const finalizer = 'networking.k8s.io/service-cidr-finalizer';
/** Until the API server's allocators have heard of a deletion and give no more addresses out. */
const deletionGraceMs = 10_000;

const ready = {
  type: 'Ready',
  status: 'True',
  reason: '',
  message: 'Kubernetes Service CIDR is ready',
} as const;
const terminating = {
  type: 'Ready',
  status: 'False',
  reason: 'Terminating',
  message:
    'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR',
} as const;

/**
 * Makes ServiceCIDRs ready, and lets them go only when no address that is given out would be left in none. Watches
 * ServiceCIDRs and IPAddresses; writes the former. Source: k8s.io/kubernetes/pkg/controller/servicecidrs; KEP-1880.
 */
export function startServiceCidrController(context: ControllerContext): RunnableController {
  const { client, clock, informers, recorder } = context;
  const queue = context.queues.create('service-cidr-controller');
  const cidrs = informers.for(ServiceCIDRs);
  const addresses = informers.for(IPAddresses);
  /** A range that comes, changes or goes may free others of its addresses. */
  const onCidr = (cidr: ServiceCIDR) => {
    queue.add(keyOf(cidr));
    for (const other of cidrs.lister.list())
      if (other.metadata.deletionTimestamp && overlap(cidr, other)) queue.add(keyOf(other));
  };
  cidrs.addEventHandler({ added: onCidr, updated: (_, cidr) => onCidr(cidr), deleted: onCidr });
  const onAddress = ({ metadata: { name } }: IPAddress) => {
    for (const cidr of cidrs.lister.list())
      if (cidr.metadata.deletionTimestamp && overlap(cidr, rangeOf(name))) queue.add(keyOf(cidr));
  };
  addresses.addEventHandler({ added: onAddress, deleted: onAddress });

  const reconciler: Reconciler = {
    name: 'service-cidr-controller',
    async reconcile(name, { signal }): Promise<ReconcileResult | void> {
      const cidr = cidrs.lister.get(name);
      if (!cidr) return;
      if (cidr.metadata.deletionTimestamp) return release(cidr, signal);
      if (!cidr.metadata.finalizers?.includes(finalizer))
        await client
          .for(ServiceCIDRs)
          .patch(name, { metadata: { finalizers: [finalizer] } }, { type: 'strategic', signal })
          .catch(ignoreNotFound);
      try {
        await setReady(cidr, ready, signal);
      } catch (error) {
        const message = 'The ServiceCIDR Status can not be set to Ready=True';
        recorder.event(cidr, 'Warning', 'KubernetesServiceCIDRError', message);
        throw error;
      }
    },
  };

  async function release(cidr: ServiceCIDR, signal: AbortSignal): Promise<ReconcileResult | void> {
    const { name, finalizers = [], deletionTimestamp = '' } = cidr.metadata;
    if (wouldLeaveOrphans(cidr, { all: cidrs.lister.list(), addresses: addresses.lister.list() }))
      return setReady(cidr, terminating, signal);
    const left = Date.parse(deletionTimestamp) + deletionGraceMs - clock.now();
    if (left > 0) return { requeueAfterMs: left };
    if (!finalizers.includes(finalizer)) return;
    const patch = { metadata: { '$deleteFromPrimitiveList/finalizers': [finalizer] } };
    await client.for(ServiceCIDRs).patch(name, patch, { type: 'strategic', signal }).catch(ignoreNotFound);
  }

  async function setReady(
    cidr: ServiceCIDR,
    condition: typeof ready | typeof terminating,
    signal: AbortSignal,
  ): Promise<void> {
    const before = findCondition(cidr.status?.conditions, 'Ready');
    if (before?.status === condition.status && before.message === condition.message) return;
    const conditions = setCondition(cidr.status?.conditions, {
      ...condition,
      lastTransitionTime: formatTime(clock.now()),
    });
    await client
      .for(ServiceCIDRs)
      .patch(cidr.metadata.name, { status: { conditions } }, { type: 'merge', subresource: 'status', signal })
      .catch(ignoreNotFound);
  }
  return queueController({ context, queue, reconciler, concurrency: 5 });
}

/** One address as a range of its own. */
const rangeOf = (address: string): ServiceCIDR => ({
  metadata: { name: address },
  spec: { cidrs: [`${address}/${address.includes(':') ? 128 : 32}`] },
});
