import type { Container, Pod } from '@tinkernetes/api';
import { Quantity } from '@tinkernetes/apimachinery';
import type { Clock, Logger } from '@tinkernetes/component-base';
import { join } from 'node:path';
import { isSidecar, podText, uidOf } from '../pods/pod-facts';
import { DeviceCheckpoint, type DeviceAllocation } from './device-checkpoint';
import type { ContainerAllocateResponse } from './device-plugin-api';
import { OfferedDevices, type NamedDevice } from './offered-devices';
import type { PluginEndpoint } from './plugin-endpoint';
import type { PluginRegistrar } from './plugin-registrar';

export interface DeviceManagerDeps {
  /** `<root>/device-plugins`: where it is kept which container has what. */
  directory: string;
  /** Where the machine's plugins register. */
  registrar: PluginRegistrar;
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
  /** UIDs of Pods that have not ended. */
  activePods(): ReadonlySet<string>;
  /** What the node offers has changed. */
  onChange(): void;
}

/** The Pod can't have the devices that it was bound to this node for. */
export class DeviceError extends Error {
  override readonly name = 'DeviceError';
}

const checkpointName = 'kubelet_internal_checkpoint';
/**
 * Devices that plugins offer: what of them is on the node, and which container has which.
 * Source: pkg/kubelet/cm/devicemanager/manager.go;
 * https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/
 */
export class DeviceManager {
  private readonly offers: OfferedDevices;
  private readonly checkpoint: DeviceCheckpoint;
  private allocations: readonly DeviceAllocation[];
  /** Given, but the plugin has not answered yet. */
  private readonly pending = new Set<string>();

  constructor(private readonly deps: DeviceManagerDeps) {
    this.checkpoint = new DeviceCheckpoint(join(deps.directory, checkpointName), deps.logger);
    const { allocations, resources } = this.checkpoint.read();
    this.allocations = allocations;
    this.offers = new OfferedDevices({ ...deps, save: () => this.save() }, resources);
  }

  /** Learns of the machine's plugins, those that there are and those to come. */
  start(): Promise<void> {
    return this.offers.start();
  }

  /** What the Node's status says of them. */
  offered(): { capacity: Record<string, string>; allocatable: Record<string, string> } {
    return this.offers.offered();
  }

  /** Devices that can be given out, whether somebody has them or not. */
  allocatable(): NamedDevice[] {
    return this.offers.allocatable();
  }

  /** What the container has. */
  devicesOf(pod: Pod, container: Container): NamedDevice[] {
    return this.allocationsOf(pod, container).flatMap(({ resource, ids }) =>
      ids.map((id) => this.offers.named(resource, id)),
    );
  }

  /**
   * Gives the Pod's containers the devices that they ask for, once. What an init container had, those after it may have.
   * Throws DeviceError.
   */
  async allocate(pod: Pod): Promise<void> {
    if (this.offers.names().length === 0) return;
    const reusable = new Map<string, Set<string>>();
    for (const container of pod.spec.initContainers ?? []) {
      const given = await this.allocateFor(pod, container, reusable);
      for (const [resource, ids] of given) {
        const free = reusable.get(resource) ?? new Set<string>();
        for (const id of ids)
          if (isSidecar(container)) free.delete(id);
          else free.add(id);
        reusable.set(resource, free);
      }
    }
    for (const container of pod.spec.containers) {
      const given = await this.allocateFor(pod, container, reusable);
      for (const [resource, ids] of given) for (const id of ids) reusable.get(resource)?.delete(id);
    }
  }

  /** What the container needs for its devices; plugins that want to are told that it starts. */
  async options(pod: Pod, container: Container): Promise<ContainerAllocateResponse[]> {
    const own = this.allocationsOf(pod, container);
    for (const { resource, ids } of own) {
      const endpoint = this.offers.endpoint(resource);
      if (endpoint?.options.preStartRequired) await endpoint.preStart(ids);
    }
    return own.map(({ response }) => response);
  }

  /** Which devices the container has now, by resource. */
  private async allocateFor(
    pod: Pod,
    container: Container,
    reusable: ReadonlyMap<string, ReadonlySet<string>>,
  ): Promise<Map<string, readonly string[]>> {
    const given = new Map<string, readonly string[]>();
    const known = this.allocationsOf(pod, container);
    for (const [resource, quantity] of Object.entries(container.resources?.limits ?? {})) {
      if (!this.offers.has(resource)) continue;
      const count = Quantity.parse(quantity).value();
      const before = known.find((allocation) => allocation.resource === resource);
      if (before) given.set(resource, before.ids);
      else if (count > 0)
        given.set(
          resource,
          await this.give(pod, container, { resource, count, reusable: reusable.get(resource) }),
        );
    }
    return given;
  }

  private async give(
    pod: Pod,
    container: Container,
    {
      resource,
      count,
      reusable,
    }: { resource: string; count: number; reusable: ReadonlySet<string> | undefined },
  ): Promise<readonly string[]> {
    const { logger } = this.deps;
    const endpoint = this.offers.endpoint(resource);
    if (!endpoint) throw new DeviceError(`can't allocate unregistered device ${resource}`);
    const reused = [...(reusable ?? [])].slice(0, count);
    const ids = [...reused, ...(await this.reserve(endpoint, resource, { count, reused }))];
    try {
      const response = await endpoint.allocate(ids).catch(failedCall);
      const own = { podUID: uidOf(pod), container: container.name, resource, ids, response };
      this.allocations = [...this.allocations, own];
      this.save();
      logger.info({ pod: podText(pod), container: container.name, resource, ids }, 'devices given');
      return ids;
    } finally {
      for (const id of ids) this.pending.delete(`${resource}/${id}`);
    }
  }

  /**
   * Chooses devices that make the reused ones `count`, and are nobody else's from now on. The plugin is asked about all
   * of the container's devices, which have to fit together.
   */
  private async reserve(
    endpoint: PluginEndpoint,
    resource: string,
    { count, reused }: { count: number; reused: readonly string[] },
  ): Promise<readonly string[]> {
    const needed = count - reused.length;
    if (needed <= 0) return [];
    const available = [...this.available(resource, needed), ...reused];
    const wanted = endpoint.options.getPreferredAllocationAvailable
      ? await endpoint.preferred({ available, mustInclude: reused, count }).catch(failedCall)
      : [];
    // Others may have been given some meanwhile.
    const left = new Set(this.available(resource, needed));
    const ids = [...new Set([...wanted.filter((id) => left.has(id)), ...left])].slice(0, needed);
    for (const id of ids) this.pending.add(`${resource}/${id}`);
    return ids;
  }

  /** Devices that nobody has; throws DeviceError where they are too few. */
  private available(resource: string, count: number): string[] {
    this.forgetEnded();
    const used = new Set(this.allocations.filter((a) => a.resource === resource).flatMap(({ ids }) => ids));
    const free = this.offers
      .healthy(resource)
      .filter((id) => !used.has(id) && !this.pending.has(`${resource}/${id}`));
    if (free.length < count)
      throw new DeviceError(
        `requested number of devices unavailable for ${resource}. Requested: ${count}, Available: ${free.length}`,
      );
    return free;
  }

  private forgetEnded(): void {
    const active = this.deps.activePods();
    const left = this.allocations.filter(({ podUID }) => active.has(podUID));
    if (left.length === this.allocations.length) return;
    this.allocations = left;
    this.save();
  }

  private allocationsOf(pod: Pod, { name }: Container): readonly DeviceAllocation[] {
    const uid = uidOf(pod);
    return this.allocations.filter(({ podUID, container }) => podUID === uid && container === name);
  }

  private save(): void {
    this.checkpoint.write({ allocations: [...this.allocations], resources: this.offers.names() });
  }
}

function failedCall(error: unknown): never {
  const reason = error instanceof Error ? error.message : String(error);
  throw new DeviceError(`rpc error: ${reason}`, { cause: error });
}
