import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseFlags, realClock, realRandom } from '@tinkernetes/component-base';
import { Cluster, untilAborted } from '../cluster/cluster';
import { createInProcessLauncher } from '../launcher/in-process-launcher';
import { createProcessLauncher } from '../launcher/process-launcher';
import { toClusterOptions, upFlags, type ClusterOptions } from '../options';
import type { Command } from './command';

export const up: Command = {
  name: 'up',
  summary: 'Start a cluster and keep it running until Ctrl-C',
  flags: upFlags,
  async run(argv) {
    const startedAt = realClock.monotonic();
    const options = toClusterOptions(parseFlags(upFlags, argv), () =>
      mkdtempSync(join(tmpdir(), 'tinkernetes-ephemeral-')),
    );
    const stop = new AbortController();
    const onSignal = () => stop.abort(new Stopped());
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal);
    let cluster: Cluster | undefined;
    try {
      cluster = await Cluster.start(
        options,
        {
          launcher: (layout) =>
            options.inProcess
              ? createInProcessLauncher()
              : createProcessLauncher({ layout, clock: realClock }),
          clock: realClock,
          random: realRandom,
          report: (line) => process.stderr.write(`${line}\n`),
          onStopRequest: onSignal,
        },
        stop.signal,
      );
      const seconds = (realClock.monotonic() - startedAt) / 1000;
      process.stdout.write(readyText(options, cluster.server, seconds));
      await untilAborted(new Promise<never>(() => undefined), stop.signal);
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      process.stderr.write('Stopping …\n');
      await cluster?.stop();
      process.stderr.write('Stopped.\n');
    } finally {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, onSignal);
    }
  },
};

/** The user asked for the end; not a failure. */
class Stopped extends Error {
  override readonly name = 'Stopped';
}

function readyText(options: ClusterOptions, server: string, seconds: number): string {
  const path = relative(process.cwd(), options.kubeconfig);
  const shown = path.startsWith('..') ? options.kubeconfig : path;
  return [
    `Cluster ready in ${seconds.toFixed(1)} s: ${options.nodes} ${options.nodes === 1 ? 'node' : 'nodes'}, API server at ${server}`,
    '',
    'Next, in another terminal:',
    `  export KUBECONFIG=${shown}`,
    '  kubectl get nodes -o wide',
    '  kubectl create deployment web --image=nginx --replicas=3',
    '',
    ...whatRemains(options),
    '',
  ].join('\n');
}

function whatRemains({ ephemeral, storage, dataDir }: ClusterOptions): string[] {
  if (ephemeral)
    return [
      'Ctrl-C stops the cluster, and nothing is kept. Until then it is found by its directory:',
      `  npx tinkernetes status --data-dir ${dataDir}`,
    ];
  return storage === 'memory'
    ? ['Ctrl-C stops the cluster; its objects, which are in memory, go with it.']
    : ['Ctrl-C stops the cluster; the next start continues where it was.'];
}
