import { parseFlags } from '@tinkernetes/component-base';
import { adminClient } from '../cluster/credentials';
import { ClusterLayout } from '../cluster/layout';
import { dataDirFlag } from '../options';
import type { Command } from './command';

/** For container health checks: exit code 0 when the API server is ready, else 1. */
export const healthz: Command = {
  name: 'healthz',
  summary: 'Ask the API server whether it is ready',
  flags: dataDirFlag,
  async run(argv) {
    const client = await adminClient(new ClusterLayout(parseFlags(dataDirFlag, argv)['data-dir']));
    try {
      process.stdout.write(`${await client.requestText({ method: 'GET', path: '/readyz' })}\n`);
    } finally {
      client.close();
    }
  },
};
