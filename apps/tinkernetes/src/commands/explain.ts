import { resolve } from 'node:path';
import { parseFlags, UsageError, type FlagSpec } from '@tinkernetes/component-base';
import { schedulerDebugPort } from '../cluster/component-specs';
import { askCluster } from '../cluster/control-socket';
import { componentsAlone } from '../cluster/components-alone';
import { ClusterLayout } from '../cluster/layout';
import { attemptText, type ExplainedAttempt } from '../explain/attempt-text';
import { dataDirFlag } from '../options';
import type { Command } from './command';

const flags = {
  ...dataDirFlag,
  namespace: { type: 'string', short: 'n', default: 'default', help: 'Namespace of the Pod' },
  scheduler: {
    type: 'string',
    help: `HOST:PORT of a scheduler's debug endpoints (its --debug-port); default: that of the cluster in --data-dir, also one started alone, or of this container`,
  },
} as const satisfies Record<string, FlagSpec>;

/** Asks the cluster's own scheduler how the last attempt for a Pod went. */
export const explain: Command = {
  name: 'explain',
  summary: 'Show why a Pod is where it is, or nowhere: `explain pod/NAME`',
  args: 'pod/NAME',
  flags,
  async run(argv) {
    const [target = '', ...rest] = argv;
    const [kind = '', name] = target.split('/');
    if (!['pod', 'pods', 'po'].includes(kind) || !name)
      throw new UsageError('explain needs a Pod, e.g. `tinkernetes explain pod/web`');
    const values = parseFlags(flags, rest);
    const address = values.scheduler ?? (await schedulerOf(new ClusterLayout(resolve(values['data-dir']))));
    const attempt = await askScheduler(address, values.namespace, name);
    if (!attempt)
      throw new UsageError(
        `the scheduler has no attempt for ${target} in namespace ${values.namespace}: it doesn't exist, has a scheduling gate or a scheduler of its own, was placed before the scheduler's last start, or was not among the last 200`,
      );
    process.stdout.write(attemptText(attempt));
  },
};

/** HOST:PORT. Without a running cluster here this may be a scheduler's container (`docker compose exec scheduler …`). */
async function schedulerOf(layout: ClusterLayout): Promise<string> {
  const report = await askCluster(layout, 'GET', '/status');
  if (!report) {
    const local = `127.0.0.1:${schedulerDebugPort}`;
    if (await answers(local)) return local;
    throw new UsageError(`no cluster runs in ${layout.dataDir}`);
  }
  const known = [...report.components, ...(await componentsAlone(layout))];
  const port = known.find(({ instance, info }) => instance === 'scheduler' && info)?.info?.debugPort;
  if (typeof port !== 'number')
    throw new UsageError(
      'no scheduler of this cluster runs: see `tinkernetes status`. `npm run component scheduler` starts one; another is asked with --scheduler=HOST:PORT',
    );
  return `127.0.0.1:${port}`;
}

/** One request, one connection: nothing keeps the command from ending. */
const get = (address: string, path: string): Promise<Response> =>
  fetch(`http://${address}/debug/scheduler/${path}`, { headers: { connection: 'close' } });

const answers = (address: string): Promise<boolean> =>
  get(address, 'queue').then(
    ({ ok }) => ok,
    () => false,
  );

/** undefined: the scheduler remembers none. */
async function askScheduler(
  address: string,
  namespace: string,
  name: string,
): Promise<ExplainedAttempt | undefined> {
  const path = ['attempts', namespace, name].map(encodeURIComponent).join('/');
  const response = await get(address, path).catch((error: unknown) => {
    throw new UsageError(`no scheduler answers at ${address}: is it its --debug-port?`, { cause: error });
  });
  return response.ok ? ((await response.json()) as ExplainedAttempt) : undefined;
}
