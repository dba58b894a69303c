import { join, resolve } from 'node:path';
import { parseFlags, realClock, realRandom, type FlagSpec } from '@tinkernetes/component-base';
import { ensureCredentials } from '../cluster/credentials';
import { ClusterLayout } from '../cluster/layout';
import { readState, writeState } from '../cluster/state';
import { dataDirFlag } from '../options';
import type { Command } from './command';

const flags = {
  ...dataDirFlag,
  server: {
    type: 'string',
    default: 'https://apiserver:6443',
    help: 'URL by which components reach the API server',
  },
  'admin-server': {
    type: 'string',
    default: 'https://127.0.0.1:6443',
    help: "URL in the administrator's kubeconfig",
  },
  kubeconfig: {
    type: 'string',
    help: "Where to write the administrator's kubeconfig (default <data-dir>/kubeconfig)",
  },
} as const satisfies Record<string, FlagSpec>;

/** Where several machines or containers form one cluster: keys and kubeconfigs first, then each component by itself. */
export const init: Command = {
  name: 'init',
  summary: "Make a cluster's keys, certificates and kubeconfigs, and start nothing",
  flags,
  async run(argv) {
    const values = parseFlags(flags, argv);
    const layout = new ClusterLayout(resolve(values['data-dir']));
    const url = new URL(values.server);
    const state = (await readState(layout)) ?? {
      version: 1,
      id: realRandom.uid(),
      bootstrapToken: `${realRandom.hex(3)}.${realRandom.hex(8)}`,
      apiPort: Number(url.port || 443),
    };
    await ensureCredentials({
      layout,
      state,
      server: values.server,
      admin: {
        file: values.kubeconfig ? resolve(values.kubeconfig) : join(layout.dataDir, 'kubeconfig'),
        server: values['admin-server'],
      },
      names: { dnsNames: [url.hostname], ipAddresses: [] },
      now: realClock.now(),
    });
    await writeState(layout, state);
  },
};
