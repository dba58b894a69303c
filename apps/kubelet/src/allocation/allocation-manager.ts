import type { Container, Node, Pod, ResourceRequirements } from '@tinkernetes/api';
import { podRequests, quantitiesOf } from '@tinkernetes/apimachinery';
import { resourceRefusal } from '../pods/admission';
import { isSidecar, uidOf } from '../pods/pod-facts';
import type { PodEvents } from '../runtime/pod-events';
import type { Allocation, AllocationStore } from './allocation-store';

/** A condition that the Pod has while a resize is not done. */
export interface ResizeCondition {
  type: 'PodResizePending' | 'PodResizeInProgress';
  reason?: 'Deferred' | 'Infeasible' | 'Error';
  message?: string;
}

export interface AllocationManagerDeps {
  store: AllocationStore;
  events: PodEvents;
  node(): Node | undefined;
  /** Pods that have not ended. */
  activePods(): readonly Pod[];
}

interface Entry {
  allocation: Allocation;
  pending?: ResizeCondition;
  inProgress?: ResizeCondition;
  generation?: number;
}

/**
 * What running Pods have been given. A spec that asks for something else is a resize: the Pod gets it at once, when others
 * have left (Deferred), or never (Infeasible). Source: pkg/kubelet/allocation/allocation_manager.go.
 */
export class AllocationManager {
  private readonly entries = new Map<string, Entry>();

  constructor(private readonly deps: AllocationManagerDeps) {}

  /** The Pod with what it has been given in place of what its spec asks for. */
  allocated(pod: Pod): Pod {
    const entry = this.entries.get(uidOf(pod));
    return entry ? withAllocation(pod, entry.allocation) : pod;
  }

  /** Gives the Pod what its spec asks for, if there is enough; returns it with what it has then. */
  update(pod: Pod): Pod {
    const { store } = this.deps;
    const uid = uidOf(pod);
    const asked = allocationOf(pod);
    const entry: Entry = this.entries.get(uid) ?? { allocation: store.get(uid) ?? asked };
    this.entries.set(uid, entry);
    if (same(entry.allocation, asked)) {
      entry.pending = undefined;
      store.delete(uid);
      return pod;
    }
    const refusal = this.refusalOf(pod);
    if (refusal) {
      this.refuse(pod, entry, refusal);
      store.set(uid, entry.allocation);
      return withAllocation(pod, entry.allocation);
    }
    entry.allocation = asked;
    entry.pending = undefined;
    entry.inProgress = { type: 'PodResizeInProgress' };
    entry.generation = pod.metadata.generation;
    store.delete(uid);
    this.tell(pod, 'Normal', 'ResizeStarted', `Pod resize started: ${summary(pod)}`);
    return pod;
  }

  /** The containers have what they have been given, or why they don't. */
  actuated(pod: Pod, error: Error | undefined): void {
    const entry = this.entries.get(uidOf(pod));
    if (!entry?.inProgress) return;
    if (error) {
      const { message } = error;
      if (entry.inProgress.message !== message)
        this.tell(pod, 'Warning', 'ResizeError', `Pod resize error: ${summary(pod, message)}`);
      entry.inProgress = { type: 'PodResizeInProgress', reason: 'Error', message };
      return;
    }
    entry.inProgress = undefined;
    this.tell(pod, 'Normal', 'ResizeCompleted', `Pod resize completed: ${summary(pod)}`);
  }

  conditions(uid: string): ResizeCondition[] {
    const { pending, inProgress } = this.entries.get(uid) ?? {};
    return [pending, inProgress].flatMap((condition) => condition ?? []);
  }

  /** Pods that may get more when others leave. */
  *deferred(): Generator<string> {
    for (const [uid, { pending }] of this.entries) if (pending?.reason === 'Deferred') yield uid;
  }

  forget(uid: string): void {
    this.entries.delete(uid);
    this.deps.store.delete(uid);
  }

  private refusalOf(pod: Pod): Pick<ResizeCondition, 'reason' | 'message'> | undefined {
    const { node, activePods } = this.deps;
    const current = node();
    if (!current) return undefined;
    const tooMuch = overCapacity(pod, current);
    if (tooMuch) return { reason: 'Infeasible', message: `Node didn't have enough capacity: ${tooMuch}` };
    const others = activePods().filter((other) => uidOf(other) !== uidOf(pod));
    const refusal = resourceRefusal(pod, current, { others, given: (other) => this.allocated(other) });
    return refusal && { reason: 'Deferred', message: refusal.message };
  }

  private refuse(
    pod: Pod,
    entry: Entry,
    { reason, message }: Pick<ResizeCondition, 'reason' | 'message'>,
  ): void {
    if (entry.pending?.reason !== reason || entry.pending?.message !== message) {
      const event = reason === 'Infeasible' ? 'ResizeInfeasible' : 'ResizeDeferred';
      this.tell(pod, 'Warning', event, `Pod resize ${reason}: ${summary(pod, message)}`);
    }
    entry.pending = { type: 'PodResizePending', reason, message };
  }

  private tell(pod: Pod, type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.deps.events.pod(pod, type, reason, message);
  }
}

/** Those whose resources may change while they run. */
const resizable = (pod: Pod): Container[] => [
  ...(pod.spec.initContainers ?? []).filter(isSidecar),
  ...pod.spec.containers,
];

/** No container is called so: what the Pod as a whole has. */
const wholePod = '';

const allocationOf = (pod: Pod): Allocation =>
  Object.fromEntries([
    ...(pod.spec.resources ? [[wholePod, pod.spec.resources] as const] : []),
    ...resizable(pod).map(({ name, resources = {} }) => [name, resources] as const),
  ]);

/** The Pod itself where that is what it asks for, as nearly always. */
function withAllocation(pod: Pod, allocation: Allocation): Pod {
  const { containers, initContainers } = pod.spec;
  const ofPod = allocation[wholePod];
  const isGiven = ({ name, resources }: Container) =>
    resources === allocation[name] || (!resources && isEmpty(allocation[name]));
  if ((!ofPod || ofPod === pod.spec.resources) && resizable(pod).every(isGiven)) return pod;
  const given = (container: Container): Container => {
    const resources = allocation[container.name];
    return resources ? { ...container, resources } : container;
  };
  return {
    ...pod,
    spec: {
      ...pod.spec,
      ...(ofPod ? { resources: ofPod } : {}),
      containers: containers.map(given),
      ...(initContainers ? { initContainers: initContainers.map(given) } : {}),
    },
  };
}

const isEmpty = (resources: object | undefined): boolean =>
  resources === undefined || Object.keys(resources).length === 0;

function same(a: Allocation, b: Allocation): boolean {
  if (JSON.stringify(a) === JSON.stringify(b)) return true;
  const text = (resources: ResourceRequirements | undefined) =>
    JSON.stringify(
      [resources?.requests, resources?.limits].map((list) =>
        [...quantitiesOf(list)].map(([name, quantity]) => [name, quantity.toString()]).sort(),
      ),
    );
  return Object.keys(b).every((name) => text(a[name]) === text(b[name]));
}

/** More than the whole node has. */
function overCapacity(pod: Pod, node: Node): string | undefined {
  const allocatable = quantitiesOf(node.status?.allocatable);
  const requests = podRequests(pod);
  for (const name of ['memory', 'cpu']) {
    const requested = requests.get(name);
    const capacity = allocatable.get(name);
    if (!requested || !capacity || requested.compare(capacity) <= 0) continue;
    const [wanted, there] = [requested, capacity].map((q) => (name === 'cpu' ? q.milliValue() : q.value()));
    return `${name}, requested: ${wanted}, capacity: ${there}`;
  }
  return undefined;
}

/** As upstream's events have it. */
function summary(pod: Pod, error?: string): string {
  const containers = pod.spec.containers.map(({ name, resources = {} }) => ({ name, resources }));
  return JSON.stringify({ containers, generation: pod.metadata.generation, ...(error ? { error } : {}) });
}
