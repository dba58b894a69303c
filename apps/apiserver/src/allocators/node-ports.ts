import { Services, type Service } from '@tinkernetes/api';
import type { Random } from '@tinkernetes/component-base';
import type { StoreRegistry } from '../contracts';

/** Node ports in use: those of all Services, and those of writes that are on their way. */
export class NodePorts {
  private readonly pending = new Set<string>();
  /** `TCP:30080`, with the number of Services that use it; undefined until first needed. */
  private used: Map<string, number> | undefined;

  constructor(
    readonly range: { from: number; to: number },
    private readonly stores: () => StoreRegistry,
    private readonly random: Random,
  ) {}

  isTaken(port: number, protocol: string): boolean {
    const key = `${protocol}:${port}`;
    return this.pending.has(key) || (this.inUse().get(key) ?? 0) > 0;
  }

  inRange(port: number): boolean {
    return port >= this.range.from && port <= this.range.to;
  }

  /** A port that is free for all the protocols; undefined when there is none. */
  findFree(protocols: readonly string[]): number | undefined {
    const count = this.range.to - this.range.from + 1;
    const start = Math.floor(this.random.next() * count);
    for (let i = 0; i < count; i++) {
      const port = this.range.from + ((start + i) % count);
      if (protocols.every((protocol) => !this.isTaken(port, protocol))) return port;
    }
    return undefined;
  }

  /** Holds the port until the write that wants it is done; the returned function lets go. */
  hold(port: number, protocol: string): () => void {
    const key = `${protocol}:${port}`;
    this.pending.add(key);
    return () => void this.pending.delete(key);
  }

  private inUse(): Map<string, number> {
    if (this.used) return this.used;
    const used = new Map<string, number>();
    const count = (service: Service, by: number) => {
      for (const key of portsOf(service)) used.set(key, (used.get(key) ?? 0) + by);
    };
    const store = this.stores().for(Services);
    for (const service of store.list()) count(service, 1);
    store.onChange(({ type, object, old }) => {
      if (old) count(old, -1);
      if (type === 'DELETED') return;
      count(object, 1);
      for (const key of portsOf(object)) this.pending.delete(key);
    });
    this.used = used;
    return used;
  }
}

function portsOf({ spec }: Service): string[] {
  const ports = (spec?.ports ?? []).flatMap(({ nodePort, protocol = 'TCP' }) =>
    nodePort ? [`${protocol}:${nodePort}`] : [],
  );
  return spec?.healthCheckNodePort ? [...ports, `TCP:${spec.healthCheckNodePort}`] : ports;
}
