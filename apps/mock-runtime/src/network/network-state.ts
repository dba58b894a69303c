import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Logger } from '@tinkernetes/component-base';
import type { AttachRequest, Route, Rule } from '@tinkernetes/vnet';
import { errorCode } from '../error-code';

export interface SavedNetwork {
  overlayPort: number;
  interfaces: readonly AttachRequest[];
  rules: Readonly<Record<string, readonly Rule[]>>;
  routes: Readonly<Record<string, readonly Route[]>>;
}

const empty: SavedNetwork = { overlayPort: 0, interfaces: [], rules: {}, routes: {} };

/**
 * The node's network tables on disk. On Linux they are the kernel's and survive a restart of the runtime; here a
 * restarted runtime reads them back. Changes that arrive while a write runs share the next one.
 */
export class NetworkState {
  private overlayPort = 0;
  private readonly interfaces = new Map<string, AttachRequest>();
  private readonly rules = new Map<string, readonly Rule[]>();
  private readonly routes = new Map<string, readonly Route[]>();
  private readonly file: string;
  private writing: Promise<void> | undefined;
  private dirty = false;

  constructor(
    rootDir: string,
    private readonly logger: Logger,
  ) {
    this.file = join(rootDir, 'network.json');
  }

  async load(): Promise<SavedNetwork> {
    const saved = await this.read();
    this.overlayPort = saved.overlayPort;
    for (const request of saved.interfaces)
      this.interfaces.set(keyOf(request.netns, request.ifname), request);
    for (const [owner, rules] of Object.entries(saved.rules)) this.rules.set(owner, rules);
    for (const [owner, routes] of Object.entries(saved.routes)) this.routes.set(owner, routes);
    return saved;
  }

  saveOverlayPort(port: number): void {
    if (this.overlayPort === port) return;
    this.overlayPort = port;
    this.changed();
  }

  saveInterface(request: AttachRequest): void {
    this.interfaces.set(keyOf(request.netns, request.ifname), request);
    this.changed();
  }

  forgetInterface(netns: string, ifname: string): void {
    if (this.interfaces.delete(keyOf(netns, ifname))) this.changed();
  }

  saveRules(owner: string, rules: readonly Rule[]): void {
    if (rules.length > 0) this.rules.set(owner, rules);
    else this.rules.delete(owner);
    this.changed();
  }

  saveRoutes(owner: string, routes: readonly Route[]): void {
    if (routes.length > 0) this.routes.set(owner, routes);
    else this.routes.delete(owner);
    this.changed();
  }

  async flush(): Promise<void> {
    while (this.writing) await this.writing;
  }

  private changed(): void {
    this.dirty = true;
    this.writing ??= this.writeAll().finally(() => {
      this.writing = undefined;
    });
  }

  private async writeAll(): Promise<void> {
    while (this.dirty) {
      this.dirty = false;
      const saved: SavedNetwork = {
        overlayPort: this.overlayPort,
        interfaces: [...this.interfaces.values()],
        rules: Object.fromEntries(this.rules),
        routes: Object.fromEntries(this.routes),
      };
      try {
        await mkdir(dirname(this.file), { recursive: true });
        await writeFile(`${this.file}.tmp`, JSON.stringify(saved));
        await rename(`${this.file}.tmp`, this.file);
      } catch (error) {
        this.logger.error({ err: error, file: this.file }, 'network tables not saved');
      }
    }
  }

  private async read(): Promise<SavedNetwork> {
    try {
      return { ...empty, ...(JSON.parse(await readFile(this.file, 'utf8')) as Partial<SavedNetwork>) };
    } catch (error) {
      if (errorCode(error) !== 'ENOENT')
        this.logger.warn({ err: error, file: this.file }, 'network tables are unreadable, starting without');
      return empty;
    }
  }
}

const keyOf = (netns: string, ifname: string): string => `${netns}|${ifname}`;
