import { join } from 'node:path';
import type { Clock, Logger, Timer } from '@tinkernetes/component-base';
import {
  devicePluginVersion,
  type Device,
  type RegisterRequest,
  type TopologyInfo,
} from './device-plugin-api';
import { PluginEndpoint } from './plugin-endpoint';
import type { PluginRegistrar } from './plugin-registrar';

export interface OfferedDevicesDeps {
  /** Where the machine's plugins register. */
  readonly registrar: PluginRegistrar;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Keeps the names of the resources for the next kubelet. */
  save(): void;
  /** What the node offers has changed. */
  onChange(): void;
}

export interface NamedDevice {
  resource: string;
  id: string;
  topology: TopologyInfo | undefined;
}

interface Resource {
  /** undefined: its plugin is gone, or has not come back yet. */
  endpoint: PluginEndpoint | undefined;
  healthy: ReadonlySet<string>;
  unhealthy: ReadonlySet<string>;
  /** Which NUMA nodes they are near to, where the plugin says so. */
  topologies?: ReadonlyMap<string, TopologyInfo>;
  /** Until a plugin that is gone is given up. */
  grace?: Timer;
}

/** How long a plugin that is gone may take to come back until its devices are. Source: endpointStopGracePeriod. */
const stopGraceMs = 5 * 60_000;

/** What the plugins offer; of those that are gone, what they have offered, until they are given up. */
export class OfferedDevices {
  private readonly resources = new Map<string, Resource>();

  /** `known`: resources that there were before this kubelet started. */
  constructor(
    private readonly deps: OfferedDevicesDeps,
    known: readonly string[],
  ) {
    for (const name of known) this.resources.set(name, gone(new Set()));
  }

  /** Learns of the machine's plugins, those that there are and those to come. */
  async start(): Promise<void> {
    const { registrar, signal } = this.deps;
    const stop = () => {
      for (const { endpoint, grace } of this.resources.values()) {
        endpoint?.close();
        grace?.cancel();
      }
    };
    signal.addEventListener('abort', stop, { once: true });
    await registrar.join((request) => this.register(request), signal);
  }

  /** What the Node's status says of them. */
  offered(): { capacity: Record<string, string>; allocatable: Record<string, string> } {
    const entries = [...this.resources];
    return {
      capacity: Object.fromEntries(
        entries.map(([name, { healthy, unhealthy }]) => [name, String(healthy.size + unhealthy.size)]),
      ),
      allocatable: Object.fromEntries(entries.map(([name, { healthy }]) => [name, String(healthy.size)])),
    };
  }

  /** Devices that can be given out, whether somebody has them or not. */
  allocatable(): NamedDevice[] {
    return [...this.resources].flatMap(([resource, { healthy }]) =>
      [...healthy].map((id) => this.named(resource, id)),
    );
  }

  names(): string[] {
    return [...this.resources.keys()];
  }

  has(resource: string): boolean {
    return this.resources.has(resource);
  }

  /** undefined: the plugin is not there. */
  endpoint(resource: string): PluginEndpoint | undefined {
    return this.resources.get(resource)?.endpoint;
  }

  healthy(resource: string): readonly string[] {
    return [...(this.resources.get(resource)?.healthy ?? [])];
  }

  named(resource: string, id: string): NamedDevice {
    return { resource, id, topology: this.resources.get(resource)?.topologies?.get(id) };
  }

  private register({ version, endpoint: socket, resourceName, options }: RegisterRequest): void {
    const { registrar, logger } = this.deps;
    if (version !== devicePluginVersion)
      throw new Error(
        `requested API version "${version}" is not supported by kubelet. Supported version is ["v1beta1"]`,
      );
    if (!isExtendedResource(resourceName)) throw new Error(`the ResourceName "${resourceName}" is invalid`);
    if (!socket || socket.includes('/')) throw new Error(`the endpoint "${socket}" is no name of a socket`);
    const before = this.resources.get(resourceName);
    before?.grace?.cancel();
    before?.endpoint?.close();
    const endpoint = new PluginEndpoint({
      path: join(registrar.directory, socket),
      options: options ?? { preStartRequired: false, getPreferredAllocationAvailable: false },
      onDevices: (devices) => this.listed(resourceName, endpoint, devices),
      onEnd: () => this.ended(resourceName, endpoint),
    });
    const known = before ?? gone(new Set());
    this.resources.set(resourceName, { healthy: known.healthy, unhealthy: known.unhealthy, endpoint });
    logger.info({ resource: resourceName, socket }, 'device plugin registered');
  }

  private listed(name: string, endpoint: PluginEndpoint, devices: readonly Device[]): void {
    if (this.resources.get(name)?.endpoint !== endpoint) return;
    const ids = (isHealthy: boolean) =>
      new Set(devices.filter(({ health }) => (health === 'Healthy') === isHealthy).map(({ ID }) => ID));
    const topologies = new Map(
      devices.flatMap(({ ID, topology }) => (topology ? [[ID, topology] as const] : [])),
    );
    this.resources.set(name, { endpoint, healthy: ids(true), unhealthy: ids(false), topologies });
    this.deps.save();
    this.deps.onChange();
  }

  /** Its devices can't be given out any more; when it stays away, they are no more. */
  private ended(name: string, endpoint: PluginEndpoint): void {
    const { clock, logger, signal } = this.deps;
    const resource = this.resources.get(name);
    if (resource?.endpoint !== endpoint || signal.aborted) return;
    logger.info({ resource: name }, 'device plugin is gone');
    const lost = gone(new Set([...resource.healthy, ...resource.unhealthy]));
    lost.grace = clock.setTimeout(
      () => {
        if (this.resources.get(name) !== lost) return;
        this.resources.set(name, gone(new Set()));
        this.deps.onChange();
      },
      stopGraceMs,
      { unref: true },
    );
    this.resources.set(name, lost);
    this.deps.onChange();
  }
}

const gone = (unhealthy: ReadonlySet<string>): Resource => ({
  endpoint: undefined,
  healthy: new Set(),
  unhealthy,
});

/** Has a domain, which is not Kubernetes' own. Source: v1helper.IsExtendedResourceName. */
const isExtendedResource = (name: string): boolean =>
  /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?\/[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(name) &&
  !name.includes('kubernetes.io/') &&
  !name.startsWith('requests.');
