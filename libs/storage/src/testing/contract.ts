import type { Clock } from '@tinkernetes/component-base';
import { VirtualClock } from '@tinkernetes/component-base/testing';
import type { Storage } from '../types';
import { concurrencyContract } from './contract-concurrency';
import { historyContract } from './contract-history';
import { linearizabilityContract } from './contract-linearizability';
import { modelContract } from './contract-model';
import { snapshotContract } from './contract-snapshot';
import { watchContract } from './contract-watch';
import { writeContract } from './contract-writes';

export interface StorageContractOptions {
  /** A new, empty store on its own; without auto-compaction. */
  create(deps: { clock: Clock }): Promise<Storage>;
  /** Tests by name that this driver can't pass, each with the reason. */
  skip?: readonly { test: string; reason: string }[];
  /** Histories that the model-based test tries. */
  modelRuns?: number;
}

/** How the parts of the suite define a test: `it`, with an open store that is closed afterwards. */
export interface ContractContext {
  /** `timeoutMs`: for what runs longer than Jest's own limit allows. */
  rule(name: string, test: (fixture: ContractFixture) => Promise<void>, timeoutMs?: number): void;
  modelRuns: number;
}
export interface ContractFixture {
  storage: Storage;
  clock: VirtualClock;
  /** One more empty store. */
  another(): Promise<Storage>;
}

/** What every storage driver must do. Defines Jest tests; call it inside `describe`. */
export function storageContract({ create, skip = [], modelRuns = 40 }: StorageContractOptions): void {
  const unused = new Map(skip.map(({ test, reason }) => [test, reason]));
  const context: ContractContext = {
    modelRuns,
    rule(name, test, timeoutMs) {
      const reason = unused.get(name);
      unused.delete(name);
      if (reason !== undefined) {
        it.skip(`${name} (skipped: ${reason})`, () => undefined);
        return;
      }
      it(
        name,
        async () => {
          const clock = new VirtualClock();
          const stores: Storage[] = [];
          const another = async () => {
            const store = await create({ clock });
            stores.push(store);
            return store;
          };
          try {
            await test({ storage: await another(), clock, another });
          } finally {
            for (const store of stores) await store.close();
          }
        },
        timeoutMs,
      );
    },
  };
  writeContract(context);
  historyContract(context);
  watchContract(context);
  concurrencyContract(context);
  linearizabilityContract(context);
  snapshotContract(context);
  modelContract(context);
  if (unused.size > 0) throw new Error(`no such test in the contract: ${[...unused.keys()].join(', ')}`);
}
