import type { Pod } from '@tinkernetes/api';
import type { Logger } from '@tinkernetes/component-base';
import { join } from 'node:path';
import type { DeviceManager } from '../devices/device-manager';

/** What one node tells of. */
export interface PodResourcesSource {
  devices: Pick<DeviceManager, 'devicesOf' | 'allocatable'>;
  /** The node's Pods that have not ended. */
  pods(): readonly Pod[];
}

/**
 * The machine's pod-resources API, `<root>/pod-resources/kubelet.sock`: who asks there names no node, so light nodes
 * answer together. It is served from when the first has joined.
 */
export class PodResources {
  private readonly sources = new Set<PodResourcesSource>();
  private serving: Promise<void> | undefined;

  constructor(private readonly options: { rootDir: string; logger: Logger; signal: AbortSignal }) {}

  /** Resolves when it is served, with what takes the node out again. */
  async join(source: PodResourcesSource): Promise<() => void> {
    this.sources.add(source);
    this.serving ??= this.serve();
    await this.serving;
    return () => this.sources.delete(source);
  }

  private async serve(): Promise<void> {
    const { rootDir, logger, signal } = this.options;
    const { servePodResources } = await import('./pod-resources-server');
    const socket = join(rootDir, 'pod-resources/kubelet.sock');
    await servePodResources({ socket, sources: this.sources, logger, signal });
  }
}
