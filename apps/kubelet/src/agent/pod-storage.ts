import { ClaimVolumes } from '../volumes/claim-volumes';
import { CsiVolumes } from '../volumes/csi/csi-volumes';
import { ObjectWatcher } from '../volumes/object-watcher';
import { TokenManager } from '../volumes/token-manager';
import { TrustBundles } from '../volumes/trust-bundles';
import { VolumeManager } from '../volumes/volume-manager';
import type { AgentContext } from './agent-context';

/** What Pods find in their file systems besides their images, and where it comes from. */
export interface PodStorage {
  readonly csi: CsiVolumes;
  readonly volumes: VolumeManager;
  /** ConfigMaps and Secrets. */
  readonly objects: ObjectWatcher;
  readonly tokens: TokenManager;
}

/** `onDriver`: a CSI driver has come or gone. */
export function createPodStorage(agent: AgentContext, onDriver: () => void): PodStorage {
  const { options, context, client, shared, events, directories, node, nodeUID } = agent;
  const { clock, random, logger, signal } = context;
  const tokens = new TokenManager(client, clock, random);
  const csi = new CsiVolumes({
    client,
    tokens,
    logger,
    signal,
    rootDir: options.rootDir,
    registryDir: options.pluginsRegistryDir,
    nodeName: options.nodeName,
    nodeUID,
    node,
    events,
    onDriver,
  });
  const volumes = new VolumeManager({
    claims: new ClaimVolumes({ client, csi }),
    csi,
    trustBundles: new TrustBundles(client),
    clock,
    random,
    directories,
    events,
  });
  const { watches } = shared;
  const objects = new ObjectWatcher({ client, watches, clock, signal, onChange: agent.wake });
  return { csi, volumes, objects, tokens };
}
