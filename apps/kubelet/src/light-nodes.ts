import { join } from 'node:path';
import type { Options } from './options';

/** How many nodes of a process start at the same time. */
export const startingAtOnce = 16;

/**
 * The nodes that one process runs: itself, or `--nodes` light ones, NAME-0 … NAME-(N-1). Light nodes have directories,
 * identities, ports and heartbeats of their own; the runtime, CSI drivers, the address and the
 * serving certificate are shared.
 */
export function nodesOf(options: Options): Options[] {
  const { nodes, rootDir, bootstrapKubeconfig, kubeconfig, port } = options;
  if (nodes === undefined) return [options];
  return Array.from({ length: nodes }, (_, i) => {
    const nodeName = `${options.nodeName}-${i}`;
    const nodeDir = join(rootDir, 'nodes', nodeName);
    return {
      ...options,
      nodeName,
      rootDir: nodeDir,
      clientCertDir: join(nodeDir, 'pki'),
      // Without a bootstrap kubeconfig the given one has to have the rights of all these nodes.
      kubeconfig: bootstrapKubeconfig ? join(nodeDir, 'kubeconfig') : kubeconfig,
      port: port === 0 ? 0 : port + i,
      staticPodPath: undefined,
      staticPodURL: undefined,
      ownerLabel: nodeName,
      heartbeatPhase: i / nodes,
    };
  });
}

/** Calls `work` for every item; the next begins when one of those at work says that it has started or has ended. */
export async function staggered<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T, started: () => void) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const running: Promise<void>[] = [];
  const next = (): Promise<void> => {
    const { done, value } = waiting.next();
    if (done) return Promise.resolve();
    return new Promise<void>((resolve, reject) => {
      const ended = work(value, () => resolve());
      running.push(ended);
      ended.then(resolve, reject);
    }).then(next);
  };
  await Promise.all(Array.from({ length: atOnce }, next));
  await Promise.all(running);
}
