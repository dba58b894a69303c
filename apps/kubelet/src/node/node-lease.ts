import { Leases, type Lease } from '@tinkernetes/api';
import { isConflict, isNotFound } from '@tinkernetes/apimachinery';
import type { Client } from '@tinkernetes/client';
import { formatMicroTime, type Clock } from '@tinkernetes/component-base';

export const leaseNamespace = 'kube-node-lease';

export interface NodeLeaseOptions {
  client: Client;
  clock: Clock;
  nodeName: string;
  durationSeconds: number;
}

/** The node's heartbeat. Source: https://kubernetes.io/docs/concepts/architecture/leases/#node-heart-beats */
export class NodeLease {
  private lease: Lease | undefined;

  constructor(private readonly options: NodeLeaseOptions) {}

  /** Makes the Lease or renews it. */
  async renew(nodeUID: string | undefined, signal: AbortSignal): Promise<void> {
    const { client, nodeName } = this.options;
    const leases = client.for(Leases);
    const at = { namespace: leaseNamespace, signal };
    try {
      this.lease ??= await leases.get(nodeName, at);
      this.lease = await leases.update(this.renewed(this.lease), at);
    } catch (error) {
      this.lease = undefined;
      if (isConflict(error)) return this.renew(nodeUID, signal);
      if (!isNotFound(error)) throw error;
      this.lease = await leases.create(this.fresh(nodeUID), at);
    }
  }

  private renewed(lease: Lease): Lease {
    return { ...lease, spec: { ...lease.spec, ...this.spec() } };
  }

  private fresh(nodeUID: string | undefined): Lease {
    const { nodeName: name } = this.options;
    const owner = nodeUID ? [{ apiVersion: 'v1', kind: 'Node', name, uid: nodeUID }] : [];
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace: leaseNamespace, ...(owner.length > 0 ? { ownerReferences: owner } : {}) },
      spec: this.spec(),
    };
  }

  private spec(): Lease['spec'] {
    const { nodeName, durationSeconds, clock } = this.options;
    return {
      holderIdentity: nodeName,
      leaseDurationSeconds: durationSeconds,
      renewTime: formatMicroTime(clock.now()),
    };
  }
}
