import { CSINodes, Nodes, type CSINode, type CSINodeDriver } from '@tinkernetes/api';
import { ignoreNotFound, isConflict } from '@tinkernetes/apimachinery';
import type { Client } from '@tinkernetes/client';
import type { CsiDriverConnection } from './csi-drivers';

const nodeIdAnnotation = 'csi.volume.kubernetes.io/nodeid';

export interface CsiNodeDeps {
  client: Client;
  nodeName: string;
  nodeUID(): string | undefined;
}

/** Keeps the CSINode object, and what the Node itself says of drivers. Source: pkg/volume/csi/nodeinfomanager. */
export class CsiNodeObject {
  private readonly nodeIds = new Map<string, string>();

  constructor(private readonly deps: CsiNodeDeps) {}

  async add({ name, info }: CsiDriverConnection): Promise<void> {
    const segments = info.accessibleTopology?.segments ?? {};
    this.nodeIds.set(name, info.nodeId);
    await this.describeNode(segments);
    const driver: CSINodeDriver = {
      name,
      nodeID: info.nodeId,
      topologyKeys: Object.keys(segments).length > 0 ? Object.keys(segments) : undefined,
      ...(info.maxVolumesPerNode ? { allocatable: { count: info.maxVolumesPerNode } } : {}),
    };
    await this.change((drivers) => [...drivers.filter((d) => d.name !== name), driver]);
  }

  async remove(name: string): Promise<void> {
    this.nodeIds.delete(name);
    await this.describeNode({});
    await this.change((drivers) => drivers.filter((d) => d.name !== name));
  }

  private async describeNode(labels: Record<string, string>): Promise<void> {
    const ids = this.nodeIds.size > 0 ? JSON.stringify(Object.fromEntries(this.nodeIds)) : null;
    const metadata = { annotations: { [nodeIdAnnotation]: ids }, labels };
    await this.deps.client.for(Nodes).patch(this.deps.nodeName, { metadata }, { type: 'merge' });
  }

  private async change(next: (drivers: readonly CSINodeDriver[]) => CSINodeDriver[]): Promise<void> {
    const { nodeName } = this.deps;
    const objects = this.deps.client.for(CSINodes);
    for (;;) {
      const found = await objects.get(nodeName).catch(ignoreNotFound);
      const before = found?.spec.drivers ?? [];
      const drivers = next(before);
      if (found && JSON.stringify(sorted(before)) === JSON.stringify(sorted(drivers))) return;
      try {
        if (found) await objects.update({ ...found, spec: { ...found.spec, drivers } });
        else await objects.create(this.newObject(drivers));
        return;
      } catch (error) {
        if (!isConflict(error)) throw error;
      }
    }
  }

  private newObject(drivers: CSINodeDriver[]): CSINode {
    const { nodeName: name, nodeUID } = this.deps;
    return {
      metadata: {
        name,
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid: nodeUID() ?? '' }],
      },
      spec: { drivers },
    };
  }
}

const sorted = (drivers: readonly CSINodeDriver[]): unknown[] =>
  [...drivers]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, nodeID, topologyKeys, allocatable }) => [name, nodeID, topologyKeys ?? [], allocatable]);
