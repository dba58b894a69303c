import { Leases, type Lease } from '@tinkernetes/api';
import { isAlreadyExists, isConflict, isNotFound } from '@tinkernetes/apimachinery';
import type { Client } from '@tinkernetes/client';
import { formatMicroTime, withLinkedSignal, type Clock } from '@tinkernetes/component-base';
import { withRealDeadline } from '../network/deadline';

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
  private renewing: Promise<void> | undefined;

  constructor(private readonly options: NodeLeaseOptions) {}

  /** Makes the Lease or renews it. While the API server takes its time, the next renewals are the one on its way. */
  renew(nodeUID: string | undefined, signal: AbortSignal): Promise<void> {
    this.renewing ??= withRealDeadline(this.options.durationSeconds * 1000, (late) =>
      withLinkedSignal([signal, late], (ended) => this.write(nodeUID, ended)),
    ).finally(() => (this.renewing = undefined));
    return this.renewing;
  }

  private async write(nodeUID: string | undefined, signal: AbortSignal): Promise<void> {
    const { client, nodeName } = this.options;
    const leases = client.for(Leases);
    const at = { namespace: leaseNamespace, signal };
    try {
      this.lease ??= await leases.get(nodeName, at);
      this.lease = await leases.update(this.renewed(this.lease), at);
    } catch (error) {
      this.lease = undefined;
      if (isConflict(error)) return this.write(nodeUID, signal);
      if (!isNotFound(error)) throw error;
      try {
        this.lease = await leases.create(this.fresh(nodeUID), at);
      } catch (failure) {
        if (isAlreadyExists(failure)) return this.write(nodeUID, signal);
        throw failure;
      }
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
