import type { Logger } from '@tinkernetes/component-base';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RegisterRequest } from './device-plugin-api';
import { serveRegistration } from './registration-server';

const socketName = 'kubelet.sock';
/** What `sun_path` holds. */
export const longestSocketPath = 107;

export type Register = (request: RegisterRequest) => void;

export interface PluginRegistrarOptions {
  /** Where the machine's plugins find the kubelet: `<root>/device-plugins`. */
  directory: string;
  logger: Logger;
  signal: AbortSignal;
}

/**
 * The socket at which the machine's device plugins register, and the nodes that learn of them: one, or all the light nodes
 * of a process, each of which offers the plugin's devices as its own.
 */
export class PluginRegistrar {
  private readonly nodes = new Set<Register>();
  private readonly plugins = new Map<string, RegisterRequest>();
  private serving: Promise<void> | undefined;

  constructor(private readonly options: PluginRegistrarOptions) {}

  get directory(): string {
    return this.options.directory;
  }

  /** Tells the node of all plugins that there are, and of those to come until the signal aborts. */
  async join(register: Register, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    this.nodes.add(register);
    signal.addEventListener('abort', () => this.nodes.delete(register), { once: true });
    for (const request of this.plugins.values()) register(request);
    await (this.serving ??= this.serve());
  }

  /** Plugins see that the socket is a new one, and register again. */
  private async serve(): Promise<void> {
    const { directory, logger, signal } = this.options;
    const socket = join(directory, socketName);
    if (Buffer.byteLength(socket) > longestSocketPath) {
      logger.warn({ socket }, 'device plugins cannot register: the path of the socket is too long');
      return;
    }
    await mkdir(directory, { recursive: true, mode: 0o750 });
    // Only sockets: what else a plugin keeps there is its own.
    for (const entry of await readdir(directory, { withFileTypes: true }))
      if (entry.isSocket()) await rm(join(directory, entry.name), { force: true });
    if (signal.aborted) return;
    const server = await serveRegistration(socket, (request) => {
      for (const register of this.nodes) register(request);
      this.plugins.set(request.resourceName, request);
    });
    if (signal.aborted) server.close();
    else signal.addEventListener('abort', () => server.close(), { once: true });
  }
}
