import type { Pod, PodStatus } from '@tinkernetes/api';
import type { Clock } from '@tinkernetes/component-base';
import type { ProbeManager } from '../prober/probe-manager';
import type { AllocationManager } from '../allocation/allocation-manager';
import type { ContainerResizer } from '../runtime/container-resizer';
import type { PodRuntimeStatus } from '../runtime/pod-runtime-status';
import type { WaitingContainers } from '../runtime/runtime-manager';
import { terminationMessage } from '../runtime/termination-message';
import { allContainers, uidOf } from './pod-facts';
import { podStatus, type PodVerdict } from './pod-status';
import type { StatusManager } from './status-manager';

export interface StatusGeneratorDeps {
  statuses: StatusManager;
  probes: ProbeManager;
  clock: Clock;
  allocations: Pick<AllocationManager, 'conditions'>;
  resizer: Pick<ContainerResizer, 'actualResources'>;
  runtimeName: string;
  hostIPs: readonly string[];
}

const nothingWaits: WaitingContainers = new Map();

/** Computes what is reported of a Pod out of what the runtime, the probes and the last sync say. */
export class StatusGenerator {
  /** Why containers could not be started in the last sync, by Pod. */
  private readonly waiting = new Map<string, WaitingContainers>();
  /** Last words by container ID: read once, they don't change any more. */
  private readonly messages = new Map<string, Map<string, string>>();

  constructor(private readonly deps: StatusGeneratorDeps) {}

  setWaiting(uid: string, waiting: WaitingContainers): void {
    this.waiting.set(uid, waiting);
  }

  forget(uid: string): void {
    this.waiting.delete(uid);
    this.messages.delete(uid);
  }

  async generate(
    pod: Pod,
    runtime: PodRuntimeStatus,
    { verdict, terminal = false }: { verdict?: PodVerdict; terminal?: boolean } = {},
  ): Promise<PodStatus> {
    const { statuses, probes, clock, runtimeName, hostIPs } = this.deps;
    const uid = uidOf(pod);
    return podStatus(pod, {
      runtime,
      runtimeName,
      hostIPs,
      waiting: terminal ? nothingWaits : (this.waiting.get(uid) ?? nothingWaits),
      messages: await this.lastWords(pod, runtime),
      previous: statuses.get(uid) ?? pod.status,
      verdict,
      resize: terminal ? [] : this.deps.allocations.conditions(uid),
      actualResources: (container, id) => this.deps.resizer.actualResources(container, id),
      terminal,
      now: clock.now(),
      isReady: (container, id) => probes.isReady(container, id),
      isStarted: (container, id) => probes.isStarted(container, id),
    });
  }

  private async lastWords(pod: Pod, runtime: PodRuntimeStatus): Promise<ReadonlyMap<string, string>> {
    let known = this.messages.get(runtime.uid);
    const exited = runtime.containers.filter((c) => c.state === 'exited' && !known?.has(c.id));
    if (exited.length === 0) return known ?? new Map();
    if (!known) this.messages.set(runtime.uid, (known = new Map()));
    const containers = allContainers(pod);
    for (const container of exited) {
      const spec = containers.find((c) => c.container.name === container.name)?.container;
      known.set(container.id, await terminationMessage(spec, container, containers.length));
    }
    return known;
  }
}
