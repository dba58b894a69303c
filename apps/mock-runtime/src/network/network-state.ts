import { join } from 'node:path';
import type { Logger } from '@tinkernetes/component-base';
import type { AttachRequest, Policy, Route, Rule } from '@tinkernetes/vnet';
import { RecordStore } from '../containers/record-store';

export interface SavedNetwork {
  overlayPort: number;
  interfaces: readonly AttachRequest[];
  rules: Readonly<Record<string, readonly Rule[]>>;
  routes: Readonly<Record<string, readonly Route[]>>;
  policies: Readonly<Record<string, readonly Policy[]>>;
}

/** One line of the tables; its id is its kind and its key. */
type Entry =
  | { id: 'overlay'; port: number }
  | { id: `interface ${string}`; request: AttachRequest }
  | { id: `rules ${string}`; owner: string; rules: readonly Rule[] }
  | { id: `routes ${string}`; owner: string; routes: readonly Route[] }
  | { id: `policies ${string}`; owner: string; policies: readonly Policy[] };

/**
 * The node's network tables on disk. On Linux they are the kernel's and survive a restart of the runtime; here a
 * restarted runtime reads them back.
 */
export class NetworkState {
  private readonly store: RecordStore<Entry>;
  private overlayPort = 0;

  constructor(rootDir: string, logger: Logger) {
    this.store = new RecordStore(join(rootDir, 'network.jsonl'), logger);
  }

  load(): SavedNetwork {
    const interfaces: AttachRequest[] = [];
    const rules: Record<string, readonly Rule[]> = {};
    const routes: Record<string, readonly Route[]> = {};
    const policies: Record<string, readonly Policy[]> = {};
    for (const entry of this.store.load()) {
      if ('port' in entry) this.overlayPort = entry.port;
      else if ('request' in entry) interfaces.push(entry.request);
      else if ('rules' in entry) rules[entry.owner] = entry.rules;
      else if ('routes' in entry) routes[entry.owner] = entry.routes;
      else policies[entry.owner] = entry.policies;
    }
    return { overlayPort: this.overlayPort, interfaces, rules, routes, policies };
  }

  saveOverlayPort(port: number): void {
    if (this.overlayPort === port) return;
    this.overlayPort = port;
    this.store.save({ id: 'overlay', port });
  }

  saveInterface(request: AttachRequest): void {
    this.store.save({ id: idOf(request.netns, request.ifname), request });
  }

  forgetInterface(netns: string, ifname: string): void {
    this.store.delete(idOf(netns, ifname));
  }

  saveRules(owner: string, rules: readonly Rule[]): void {
    if (rules.length > 0) this.store.save({ id: `rules ${owner}`, owner, rules });
    else this.store.delete(`rules ${owner}`);
  }

  saveRoutes(owner: string, routes: readonly Route[]): void {
    if (routes.length > 0) this.store.save({ id: `routes ${owner}`, owner, routes });
    else this.store.delete(`routes ${owner}`);
  }

  savePolicies(owner: string, policies: readonly Policy[]): void {
    if (policies.length > 0) this.store.save({ id: `policies ${owner}`, owner, policies });
    else this.store.delete(`policies ${owner}`);
  }

  close(): void {
    this.store.close();
  }
}

const idOf = (netns: string, ifname: string): `interface ${string}` => `interface ${netns}|${ifname}`;
