import type { Pod } from '@tinkernetes/api';
import { podLimits, quantitiesOf, Quantity } from '@tinkernetes/apimachinery';
import type { Clock, Logger } from '@tinkernetes/component-base';
import { isMirrorPod, isStaticPod, podText, uidOf } from '../pods/pod-facts';
import type { PodVerdict } from '../pods/pod-status';
import { pressureRefusal } from './pressure-admission';
import { rankForEviction } from './ranking';
import { ThresholdTracker } from './threshold-tracker';
import {
  amountOf,
  isCrossed,
  meaningOf,
  type Observation,
  type PressureCondition,
  type Signal,
  type Threshold,
} from './thresholds';

/** What a Pod uses now, in bytes and numbers. */
export interface PodConsumption {
  memory: number;
  processes: number;
  /** Writable layers and logs, by container. */
  containers: ReadonlyMap<string, { memory: number; disk: number }>;
  /** emptyDir volumes, by name. */
  volumes: ReadonlyMap<string, number>;
}

export interface EvictionManagerDeps {
  clock: Clock;
  logger: Logger;
  thresholds: readonly Threshold[];
  /** A condition stays for so long after its threshold was last crossed. */
  pressureTransitionMs: number;
  observe(): Promise<ReadonlyMap<Signal, Observation>>;
  /** Pods that have not ended. */
  activePods(): readonly Pod[];
  /** Whether these are all of them. A kubelet that has just started might end the wrong one. */
  knowsAllPods(): boolean;
  /** Of the given Pods. */
  consumption(pods: readonly Pod[]): Promise<ReadonlyMap<string, PodConsumption>>;
  /** The most that a Pod gets to end which a soft threshold evicts. */
  maxPodGraceSeconds: number;
  /** Deletes what nobody uses of the disks: dead containers, images. */
  reclaimDisk(): Promise<void>;
  /** Ends the Pod as Failed. */
  evict(pod: Pod, verdict: PodVerdict, gracePeriodSeconds: number): void;
  onPressure(resource: string): void;
  /** The conditions of the node have changed. */
  onChange(): void;
}

const criticalPriority = 2_000_000_000;
export const isCritical = (pod: Pod): boolean =>
  isStaticPod(pod) || isMirrorPod(pod) || (pod.spec.priority ?? 0) >= criticalPriority;

/**
 * Ends Pods that use more local storage than they may, and Pods of a node that runs out of something: one at a time,
 * ranked by what they use beyond their requests. Source: pkg/kubelet/eviction/eviction_manager.go.
 */
export class EvictionManager {
  private readonly tracker: ThresholdTracker;
  private readonly evicted = new Set<string>();
  private checking: Promise<void> | undefined;

  constructor(private readonly deps: EvictionManagerDeps) {
    this.tracker = new ThresholdTracker(deps.thresholds, deps.pressureTransitionMs);
  }

  get conditions(): ReadonlySet<PressureCondition> {
    return this.tracker.conditions;
  }

  /** Why the node takes no such Pod while it is under pressure. */
  refusalOf(pod: Pod): PodVerdict | undefined {
    return isCritical(pod) ? undefined : pressureRefusal(pod, [...this.conditions]);
  }

  /** Looks at everything once; a look that is under way counts as this one. */
  check(): Promise<void> {
    this.checking ??= this.synchronize()
      .catch((error: unknown) =>
        this.deps.logger.warn({ err: error }, 'eviction: could not look at the node'),
      )
      .finally(() => (this.checking = undefined));
    return this.checking;
  }

  private async synchronize(): Promise<void> {
    const { clock, observe, onPressure } = this.deps;
    const observations = await observe();
    const before = [...this.conditions].sort().join();
    const { due } = this.tracker.update(observations, clock.monotonic());
    if ([...this.conditions].sort().join() !== before) this.deps.onChange();
    if (!this.deps.knowsAllPods()) return;
    const active = this.deps.activePods().filter((pod) => !this.evicted.has(uidOf(pod)));
    this.forgetAllBut(this.deps.activePods());
    if (await this.evictOverLimit(active)) return;
    const [worst] = due;
    if (!worst) return;
    onPressure(meaningOf[worst.signal].resource);
    if (await this.reclaimed(worst)) return;
    await this.evictOne(worst, observations.get(worst.signal), active);
  }

  /** Whether deleting what nobody uses was enough. */
  private async reclaimed(threshold: Threshold): Promise<boolean> {
    if (meaningOf[threshold.signal].condition !== 'DiskPressure') return false;
    await this.deps.reclaimDisk();
    return !isCrossed(threshold, await this.deps.observe(), { withReclaim: true });
  }

  private async evictOne(
    threshold: Threshold,
    observed: Observation | undefined,
    active: readonly Pod[],
  ): Promise<void> {
    const { signal, value, gracePeriodMs } = threshold;
    const { resource } = meaningOf[signal];
    const consumption = await this.deps.consumption(active);
    const usage = new Map([...consumption].map(([uid, used]) => [uid, usedOf(used, resource)]));
    const victim = rankForEviction(active, resource, usage).find((pod) => !isCritical(pod));
    if (!victim) return;
    const message =
      `The node was low on resource: ${resource}. ` +
      (observed
        ? `Threshold quantity: ${amountOf(value, observed)}, available: ${amountText(signal, observed)}. `
        : '') +
      offenders(victim, resource, consumption.get(uidOf(victim)));
    const verdict: PodVerdict = {
      reason: 'Evicted',
      message,
      conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet', message }],
    };
    const own = victim.spec.terminationGracePeriodSeconds ?? 30;
    this.evict(victim, verdict, gracePeriodMs > 0 ? Math.min(own, this.deps.maxPodGraceSeconds) : 0);
  }

  private async evictOverLimit(active: readonly Pod[]): Promise<boolean> {
    const limited = active.filter(hasStorageLimit);
    if (limited.length === 0) return false;
    const consumption = await this.deps.consumption(limited);
    let any = false;
    for (const pod of limited) {
      const used = consumption.get(uidOf(pod));
      const message = used && !isCritical(pod) && storageExcess(pod, used);
      if (!message) continue;
      this.evict(pod, { reason: 'Evicted', message }, 0);
      any = true;
    }
    return any;
  }

  /** Even without a grace period a Pod gets a moment. */
  private evict(pod: Pod, verdict: PodVerdict, gracePeriodSeconds: number): void {
    this.deps.logger.info({ pod: podText(pod), message: verdict.message }, 'evicting pod');
    this.evicted.add(uidOf(pod));
    this.deps.evict(pod, verdict, Math.max(1, gracePeriodSeconds));
  }

  private forgetAllBut(active: readonly Pod[]): void {
    const present = new Set(active.map(uidOf));
    for (const uid of this.evicted) if (!present.has(uid)) this.evicted.delete(uid);
  }
}

const storage = 'ephemeral-storage';

function hasStorageLimit(pod: Pod): boolean {
  return (
    podLimits(pod).has(storage) ||
    (pod.spec.volumes ?? []).some((v) => v.emptyDir?.sizeLimit !== undefined) ||
    pod.spec.containers.some((c) => c.resources?.limits?.[storage] !== undefined)
  );
}

/** What the status of a Pod says that uses more local storage than it may. */
function storageExcess(pod: Pod, used: PodConsumption): string | undefined {
  for (const { name, emptyDir } of pod.spec.volumes ?? []) {
    const limit = Quantity.tryParse(emptyDir?.sizeLimit);
    if (limit && limit.sign > 0 && (used.volumes.get(name) ?? 0) > limit.toNumber())
      return `Usage of EmptyDir volume "${name}" exceeds the limit "${limit}". `;
  }
  const total = podLimits(pod).get(storage);
  if (total && diskOf(used) > total.toNumber())
    return `Pod ephemeral local storage usage exceeds the total limit of containers ${total}. `;
  for (const { name, resources } of pod.spec.containers) {
    const limit = quantitiesOf(resources?.limits).get(storage);
    if (limit && !limit.isZero && (used.containers.get(name)?.disk ?? 0) > limit.toNumber())
      return `Container ${name} exceeded its local ephemeral storage limit "${limit}". `;
  }
  return undefined;
}

const sum = (values: Iterable<number>): number => [...values].reduce((a, b) => a + b, 0);
const diskOf = ({ containers, volumes }: PodConsumption): number =>
  sum([...containers.values()].map((c) => c.disk)) + sum(volumes.values());

function usedOf(used: PodConsumption, resource: string): number {
  if (resource === 'memory') return used.memory;
  return resource === 'pids' ? used.processes : diskOf(used);
}

const amountText = (signal: Signal, { available }: Observation): string =>
  Quantity.ofValue(
    Math.floor(available),
    signal === 'pid.available' || signal.endsWith('inodesFree') ? 'DecimalSI' : 'BinarySI',
  ).toString();

/** The containers that use more than they asked for. */
function offenders(pod: Pod, resource: string, used: PodConsumption | undefined): string {
  if (resource !== 'memory' && resource !== storage) return '';
  return pod.spec.containers
    .map(({ name, resources }) => {
      const own = used?.containers.get(name);
      const amount = own && (resource === 'memory' ? own.memory : own.disk);
      const request = quantitiesOf(resources?.requests).get(resource) ?? Quantity.zero;
      if (amount === undefined || amount <= request.toNumber()) return '';
      const text = Quantity.ofValue(Math.ceil(amount), 'BinarySI').toString();
      return `Container ${name} was using ${text}, request is ${request}, has larger consumption of ${resource}. `;
    })
    .join('');
}
