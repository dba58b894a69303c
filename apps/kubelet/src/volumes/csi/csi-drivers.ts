import { watch, type FSWatcher } from 'node:fs';
import { mkdir, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '@tinkernetes/component-base';
import type { CsiClient, NodeCapability, NodeInfo } from '@tinkernetes/csi';

export interface CsiDriverConnection {
  readonly name: string;
  readonly node: CsiClient<'node'>;
  readonly capabilities: ReadonlySet<NodeCapability>;
  readonly info: NodeInfo;
}

export interface CsiDriversDeps {
  /** `<root>/plugins_registry` */
  directory: string;
  logger: Logger;
  signal: AbortSignal;
  /** What it throws is told to the driver, which is not used then. */
  onRegistering(driver: CsiDriverConnection): Promise<void>;
  /** The driver can be used. */
  onRegistered(driver: CsiDriverConnection): Promise<void>;
  onUnregistered(name: string): Promise<void>;
}

/**
 * The CSI drivers of this node: each puts a socket into a directory, and is asked there who it is.
 * Source: pkg/kubelet/pluginmanager, pkg/volume/csi/csi_plugin.go.
 */
export class CsiDrivers {
  private readonly bySocket = new Map<string, string>();
  private readonly drivers = new Map<string, CsiDriverConnection>();
  private work: Promise<void> = Promise.resolve();
  private watcher: FSWatcher | undefined;

  constructor(private readonly deps: CsiDriversDeps) {}

  /** Throws as upstream's kubelet does where the driver has not come (yet). */
  get(name: string): CsiDriverConnection {
    const driver = this.drivers.get(name);
    if (!driver)
      throw new Error(
        `kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name ${name} not found in the list of registered CSI drivers`,
      );
    return driver;
  }

  /** Looks at what is there, and from then on at what comes and goes; ends with the signal. */
  async start(): Promise<void> {
    const { directory, logger, signal } = this.deps;
    await mkdir(directory, { recursive: true, mode: 0o750 });
    if (signal.aborted) return;
    this.watcher = watch(directory, (_event, name) => {
      if (name) this.look(name);
    });
    this.watcher.on('error', (error) =>
      logger.error({ err: error, directory }, 'CSI drivers are not watched'),
    );
    signal.addEventListener('abort', () => this.stop(), { once: true });
    for (const name of await readdir(directory)) this.look(name);
    await this.work;
  }

  private stop(): void {
    this.watcher?.close();
    for (const driver of this.drivers.values()) driver.node.close();
  }

  /** One after the other: a socket that is replaced goes before it comes. */
  private look(socket: string): void {
    const { logger, signal } = this.deps;
    this.work = this.work
      .then(() => (signal.aborted ? undefined : this.update(socket)))
      .catch((error: unknown) => logger.warn({ err: error, socket }, 'could not register a CSI driver'));
  }

  private async update(socket: string): Promise<void> {
    const known = this.bySocket.get(socket);
    if (known !== undefined) await this.unregister(socket, known);
    const path = await realpath(join(this.deps.directory, socket)).catch(() => undefined);
    if (path !== undefined) await this.register(socket, path);
  }

  private async unregister(socket: string, name: string): Promise<void> {
    this.bySocket.delete(socket);
    this.drivers.get(name)?.node.close();
    this.drivers.delete(name);
    await this.deps.onUnregistered(name);
  }

  private async register(socket: string, path: string): Promise<void> {
    const { createCsiClient } = await import('@tinkernetes/csi');
    const registration = createCsiClient('registration', `unix://${path}`);
    try {
      const { type, name, endpoint } = await registration.getInfo({});
      if (type !== 'CSIPlugin') return;
      const node = createCsiClient('node', `unix://${endpoint}`);
      try {
        const { capabilities } = await node.nodeGetCapabilities({});
        const driver: CsiDriverConnection = {
          name,
          node,
          capabilities: new Set(capabilities.flatMap(({ rpc }) => rpc?.type ?? [])),
          info: await node.nodeGetInfo({}),
        };
        await this.deps.onRegistering(driver);
        this.bySocket.set(socket, name);
        this.drivers.set(name, driver);
        await registration.notifyRegistrationStatus({ pluginRegistered: true });
        this.deps.logger.info({ driver: name, nodeID: driver.info.nodeId }, 'CSI driver registered');
        await this.deps.onRegistered(driver);
      } catch (error) {
        node.close();
        const reason = error instanceof Error ? error.message : String(error);
        await registration.notifyRegistrationStatus({ pluginRegistered: false, error: reason });
        throw error;
      }
    } finally {
      registration.close();
    }
  }
}
