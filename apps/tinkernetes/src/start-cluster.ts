import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { realClock, realRandom, type Logger } from '@tinkernetes/component-base';
import { Cluster } from './cluster/cluster';
import { parseExtraConfig } from './cluster/extra-config';
import { createInProcessLauncher } from './launcher/in-process-launcher';
import type { OptionalComponent } from './options';

export interface StartClusterOptions {
  /** Default 1. */
  nodes?: number;
  /** Components to leave out, e.g. `['scheduler']` to test a scheduler of your own. */
  without?: readonly OptionalComponent[];
  /** Let Pods use images that nobody defined: they run until stopped. Default true, as tests want. */
  genericImages?: boolean;
  /** A TypeScript or JavaScript file of images that you define (as the flag `--images`). */
  images?: string;
  /** Flags for components, `COMPONENT.FLAG=VALUE` each (as the flag `--extra-config`). */
  extraConfig?: readonly string[];
  /** Default: only errors, on stderr. */
  logger?: Logger;
  /** Aborting it gives up the start. */
  signal?: AbortSignal;
}

export interface RunningCluster {
  /** `https://127.0.0.1:PORT` */
  readonly server: string;
  /** The administrator's kubeconfig as text: for `KubeConfig.loadFromString`. */
  readonly kubeconfig: string;
  /** The same as a file: for `KUBECONFIG=… kubectl`. Gone after `stop`. */
  readonly kubeconfigFile: string;
  /** Stops everything; resolves when no timer, socket or file of the cluster is left. */
  stop(): Promise<void>;
}

/**
 * Starts a whole cluster in this process, on memory, with all nodes Ready when it resolves: for tests of operators,
 * controllers and charts. Any number of clusters may run side by side.
 */
export async function startCluster(options: StartClusterOptions = {}): Promise<RunningCluster> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tinkernetes-'));
  const kubeconfigFile = join(dataDir, 'kubeconfig');
  const { logger, nodes = 1 } = options;
  const cluster = await Cluster.start(
    {
      dataDir,
      nodes,
      apiPort: 0,
      bind: '127.0.0.1',
      storage: 'memory',
      ephemeral: true,
      inProcess: true,
      without: new Set(options.without ?? []),
      kubeconfig: kubeconfigFile,
      verbosity: 0,
      genericImages: options.genericImages ?? true,
      images: options.images,
      extraConfig: parseExtraConfig(options.extraConfig ?? [], nodes),
    },
    {
      launcher: () =>
        createInProcessLauncher(logger && { loggerOf: (component) => logger.child({ component }) }),
      clock: realClock,
      random: realRandom,
      report: () => undefined,
      onStopRequest: () => void cluster.stop(),
    },
    options.signal ?? new AbortController().signal,
  );
  return {
    server: cluster.server,
    kubeconfig: readFileSync(kubeconfigFile, 'utf8'),
    kubeconfigFile,
    stop: () => cluster.stop(),
  };
}
