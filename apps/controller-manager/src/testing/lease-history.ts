import { Leases, type Lease } from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';
import { realClock, realRandom } from '@tinkernetes/component-base';
import { silentLogger } from '@tinkernetes/component-base/testing';
import { createSharedInformerFactory } from '@tinkernetes/informers';

export interface LeaseHistory {
  /** As far as it has been seen, oldest first. */
  readonly versions: readonly Lease[];
  stop(): Promise<void>;
}

/** Follows who holds a lease of kube-system. */
export async function followLease(client: Client, name: string): Promise<LeaseHistory> {
  const stopping = new AbortController();
  const factory = createSharedInformerFactory({
    client,
    clock: realClock,
    random: realRandom,
    logger: silentLogger,
    signal: stopping.signal,
  });
  const versions: Lease[] = [];
  const seen = (lease: Lease) => {
    if (lease.metadata.name === name && lease.metadata.namespace === 'kube-system') versions.push(lease);
  };
  factory.for(Leases).addEventHandler({ added: seen, updated: (_, lease) => seen(lease) });
  factory.start();
  await factory.waitForSync();
  return {
    versions,
    async stop() {
      stopping.abort(new Error('test is over'));
      await factory.stopped();
    },
  };
}

/** For each time that another took the lease over, which nobody had released: how long it had not been renewed. */
export function gapsBetweenHolders(versions: readonly Lease[]): number[] {
  return versions.flatMap(({ spec: next }, i) => {
    const last = versions[i - 1]?.spec;
    if (!last?.holderIdentity || !next.holderIdentity) return [];
    if (last.holderIdentity === next.holderIdentity) return [];
    return [Date.parse(next.acquireTime ?? '') - Date.parse(last.renewTime ?? '')];
  });
}
