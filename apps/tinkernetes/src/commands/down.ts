import { resolve } from 'node:path';
import { parseFlags, realClock, UsageError } from '@tinkernetes/component-base';
import { askCluster } from '../cluster/control-socket';
import { ClusterLayout } from '../cluster/layout';
import { dataDirFlag } from '../options';
import type { Command } from './command';

export const down: Command = {
  name: 'down',
  summary: 'Stop the cluster that runs in a data directory',
  flags: dataDirFlag,
  async run(argv) {
    const layout = new ClusterLayout(resolve(parseFlags(dataDirFlag, argv)['data-dir']));
    const report = await askCluster(layout, 'POST', '/stop');
    if (!report) throw new UsageError(`no cluster runs in ${layout.dataDir}`);
    while (await askCluster(layout, 'GET', '/status')) await realClock.sleep(50);
    process.stdout.write('Stopped.\n');
  },
};
