import { rm, symlink, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { serveCsi, type CsiServer, type CsiServices } from '../server';
import type { PluginCapability, Service } from '../types';
import { createController } from './controller';
import { hostPathDriverName } from './names';
import { createNode } from './node';
import { VolumeStore } from './volume-store';

/*
 * A storage system whose volumes are directories, behind the Container Storage Interface: the kubelet and the
 * controllers know nothing of it but that. Its two halves run where a real driver's run: the controller's beside the
 * control plane, the node's on every node.
 */

const version = '1.0.0';

interface PluginOptions {
  /** `unix:///path` to serve at. */
  endpoint: string;
  /** Where volumes are; the same directory for both halves, unless `perNode`. */
  stateDir: string;
  /** Every node has a disk of its own: a volume is on one of them. */
  perNode: boolean;
}

function identity(perNode: boolean): Partial<Service<'identity'>> {
  const capabilities: PluginCapability[] = [
    { service: { type: 'CONTROLLER_SERVICE' } },
    { volumeExpansion: { type: 'ONLINE' } },
    ...(perNode ? [{ service: { type: 'VOLUME_ACCESSIBILITY_CONSTRAINTS' as const } }] : []),
  ];
  return {
    getPluginInfo: () => Promise.resolve({ name: hostPathDriverName, vendorVersion: version }),
    getPluginCapabilities: () => Promise.resolve({ capabilities }),
    probe: () => Promise.resolve({ ready: { value: true } }),
  };
}

/** The half that makes and attaches volumes. */
export function serveHostPathController({ endpoint, stateDir, perNode }: PluginOptions): Promise<CsiServer> {
  const store = new VolumeStore(stateDir);
  return serveCsi(endpoint, {
    identity: identity(perNode),
    controller: createController({ store, perNode }),
  });
}

export interface NodePluginOptions extends PluginOptions {
  nodeId: string;
  /** The kubelet's `plugins_registry`, where a link to the socket makes the driver known. */
  registrationDir: string;
}

/** The half that mounts volumes on one node. */
export async function serveHostPathNode(options: NodePluginOptions): Promise<CsiServer> {
  const { endpoint, stateDir, perNode, nodeId, registrationDir } = options;
  const path = endpoint.replace(/^unix:\/\//, '');
  const services: CsiServices = {
    identity: identity(perNode),
    node: createNode({ store: new VolumeStore(stateDir), nodeId, perNode }),
    registration: {
      getInfo: () =>
        Promise.resolve({
          type: 'CSIPlugin',
          name: hostPathDriverName,
          endpoint: path,
          supportedVersions: ['1.0.0'],
        }),
      notifyRegistrationStatus: () => Promise.resolve({}),
    },
  };
  const server = await serveCsi(endpoint, services);
  const link = join(registrationDir, `${hostPathDriverName}-reg.sock`);
  await mkdir(dirname(link), { recursive: true });
  await rm(link, { force: true });
  await symlink(path, link);
  return server;
}
