import { createClient, createConnectionPool, type Client, type ClientConfig } from '@tinkernetes/client';
import type { RunContext } from '@tinkernetes/component-base';
import { loadIdentity } from '../bootstrap/client-certificate';
import type { Options } from '../options';
import { NodeWatch } from './node-watch';

/** For requests, besides one a watch: each costs both sides some 65 kB, and there are thousands of light nodes. */
const lightNodeConnections = 1;
/**
 * What all of them share: a request mostly waits for the API server's disk, which takes what has come meanwhile at once,
 * and their heartbeats alone are a hundred a second.
 */
const sharedConnections = 128;

/** How a node, or several that share an identity, talk to the API server. */
export interface ApiAccess {
  readonly client: Client;
  readonly watch: NodeWatch;
  /** After the signal has aborted. */
  close(): Promise<void>;
}

/** As one node with an identity of its own. */
export function accessOfNode(
  config: ClientConfig,
  { nodeName, nodes }: Options,
  context: RunContext,
): ApiAccess {
  return access(config, context, {
    nodeName,
    connections: nodes === undefined ? undefined : lightNodeConnections,
  });
}

/**
 * As all light nodes of the process at once, where they are given a kubeconfig that has the rights of all of them:
 * thousands of nodes with a few connections. Undefined where each asks for an identity of its own.
 */
export async function accessOfLightNodes(
  { nodes, bootstrapKubeconfig, kubeconfig }: Options,
  context: RunContext,
): Promise<ApiAccess | undefined> {
  if (nodes === undefined || bootstrapKubeconfig) return undefined;
  const identity = await loadIdentity(kubeconfig);
  if (!identity) throw new Error(`${kubeconfig} does not exist and there is no --bootstrap-kubeconfig`);
  return access(identity.config, context, { connections: sharedConnections });
}

function access(
  config: ClientConfig,
  context: RunContext,
  { nodeName, connections: limit }: { nodeName?: string; connections?: number },
): ApiAccess {
  const connections = createConnectionPool(config, { limit, loopback: context.loopback });
  const client = createClient(config, { clock: context.clock, connections, metrics: context.metrics });
  const watch = new NodeWatch({ ...context, client }, nodeName);
  return {
    client,
    watch,
    async close() {
      await watch.stopped();
      client.close();
      connections.close();
    },
  };
}
