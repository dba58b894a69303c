import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { ClusterProcess } from './cluster-process';

export interface ComponentStatus {
  instance: string;
  state: string;
  pid: string;
}

const root = join(__dirname, '../..');

/** What `tinkernetes status` says of each process of the cluster. */
export function statusOf(cluster: ClusterProcess): ComponentStatus[] {
  const text = execFileSync(
    process.execPath,
    [join(root, 'dist/run.cjs'), 'tinkernetes', 'status', `--data-dir=${cluster.dataDir}`],
    { encoding: 'utf8', timeout: 60_000 },
  );
  return text
    .trim()
    .split('\n')
    .slice(2)
    .map((line) => {
      const [instance = '', state = '', pid = ''] = line.split(/ {3,}/);
      return { instance, state, pid };
    });
}

/** The process of a component that runs; throws while it does not. */
export function pidOf(cluster: ClusterProcess, instance: string): number {
  const found = statusOf(cluster).find((component) => component.instance === instance);
  if (found?.state !== 'running') throw new Error(`${instance} is ${found?.state ?? 'not there'}`);
  return Number(found.pid);
}
