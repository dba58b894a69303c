import { resolve } from 'node:path';
import { parseFlags } from '@tinkernetes/component-base';
import { askCluster, type ClusterReport } from '../cluster/control-socket';
import { componentsAlone, statusAlone } from '../cluster/components-alone';
import { ClusterLayout } from '../cluster/layout';
import { dataDirFlag } from '../options';
import type { Command } from './command';

export const status: Command = {
  name: 'status',
  summary: 'Show what runs; exit code 1 when nothing does',
  flags: dataDirFlag,
  async run(argv) {
    const layout = new ClusterLayout(resolve(parseFlags(dataDirFlag, argv)['data-dir']));
    const report = await askCluster(layout, 'GET', '/status');
    if (!report) {
      process.stdout.write(`No cluster runs in ${layout.dataDir}. Start one with \`tinkernetes up\`.\n`);
      process.exitCode = 1;
      return;
    }
    const alone = (await componentsAlone(layout)).map(statusAlone);
    process.stdout.write(statusText({ ...report, components: [...report.components, ...alone] }));
  },
};

/** A table as kubectl prints them: upper-case heads, three spaces between columns. */
function statusText(report: ClusterReport): string {
  const rows = [
    ['COMPONENT', 'STATE', 'PID', 'RESTARTS', 'LAST EXIT'],
    ...report.components.map((c) => [
      c.instance,
      c.state,
      String(c.pid ?? '-'),
      String(c.restarts),
      c.lastExit ?? '-',
    ]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('   ')
      .trimEnd(),
  );
  return `API server ${report.server}, kubeconfig ${report.kubeconfig}, launcher pid ${report.pid}\n${lines.join('\n')}\n`;
}
