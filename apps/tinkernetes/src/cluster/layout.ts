import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Addresses of a cluster on one machine. The underlay is emulated: such addresses are dialled at 127.0.0.1. */
export const network = {
  clusterDomain: 'cluster.local',
  clusterCIDR: '10.244.0.0/16',
  serviceCIDR: '10.96.0.0/12',
  kubernetesServiceIP: '10.96.0.1',
  dnsServiceIP: '10.96.0.10',
  underlayCIDR: '172.30.0.0/16',
  controlPlaneAddress: '172.30.0.1',
  nodeAddress: (index: number): string => `172.30.${Math.floor((10 + index) / 256)}.${(10 + index) % 256}`,
} as const;

/** Where a cluster's files are. Sockets live in a short path of their own: a socket path may have 107 bytes at most. */
export class ClusterLayout {
  readonly runDir: string;

  /** `nodesDir`: where nodes keep their state, when that is not part of the data directory (a container's own disk). */
  constructor(
    readonly dataDir: string,
    private readonly nodesDir = join(dataDir, 'nodes'),
  ) {
    const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 12);
    this.runDir = join(tmpdir(), `tinkernetes-${hash}`);
  }

  readonly pki = (file: string): string => join(this.dataDir, 'pki', file);
  readonly componentKubeconfig = (component: string): string =>
    join(this.dataDir, 'kubeconfigs', `${component}.kubeconfig`);
  readonly log = (instance: string): string => join(this.dataDir, 'logs', `${instance}.log`);
  readonly nodeDir = (node: string): string => join(this.nodesDir, node);

  get stateFile(): string {
    return join(this.dataDir, 'cluster.json');
  }

  get controlSocket(): string {
    return join(this.runDir, 'control.sock');
  }

  readonly healthSocket = (component: string): string => join(this.runDir, `${component}-health.sock`);
  readonly criSocket = (node: string): string => join(this.runDir, `${node}-cri.sock`);
  readonly csiSocket = (node: string): string => join(this.runDir, `${node}-csi.sock`);
  /** Volumes of the CSI driver: one disk for all nodes, which volumes move between. */
  get volumesDir(): string {
    return join(this.dataDir, 'volumes');
  }

  readonly vnetSocket = (node: string): string => join(this.runDir, `${node}-vnet.sock`);
}
