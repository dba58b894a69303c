import {
  EndpointSlices,
  Namespaces,
  NetworkPolicies,
  Pods,
  type EndpointSlice,
  type Namespace,
  type Pod,
} from '@tinkernetes/api';
import type { Clock, Logger } from '@tinkernetes/component-base';
import type { SharedInformer, SharedInformerFactory } from '@tinkernetes/informers';
import type { VnetClient } from '@tinkernetes/vnet';
import { serviceIndex, serviceOfSlice } from '../rules/rule-table';
import { SyncRunner } from '../sync-runner';
import { compilePolicies, type NameServer } from './network-policies';

export interface PolicyAgentDeps {
  /** Of its own: without the right to read policies the Services go on all the same. */
  informers: SharedInformerFactory;
  /** Where the name server is found, which may move. */
  services: SharedInformerFactory;
  vnet: VnetClient;
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
}

const owner = 'network-policies';
const nameServerService = 'kube-system/kube-dns';

/**
 * Keeps the node's network policies equal to the cluster's NetworkPolicies. Pods and Namespaces are watched from the first
 * policy on.
 */
export class PolicyAgent {
  private readonly policies;
  private readonly slices;
  private readonly runner: SyncRunner;
  private selected: { pods: SharedInformer<Pod>; namespaces: SharedInformer<Namespace> } | undefined;

  constructor(
    private readonly deps: PolicyAgentDeps,
    periods: { minSyncPeriodMs: number; syncPeriodMs: number },
  ) {
    const { informers, services, clock, logger, signal } = deps;
    this.slices = services.for(EndpointSlices);
    this.policies = informers.for(NetworkPolicies);
    const request = () => this.runner.request();
    this.runner = new SyncRunner({
      sync: () => this.sync(),
      clock,
      logger,
      signal,
      minIntervalMs: periods.minSyncPeriodMs,
      maxIntervalMs: periods.syncPeriodMs,
    });
    this.policies.addEventHandler({ added: request, updated: request, deleted: request });
    const onSlice = (slice: EndpointSlice) => {
      if (serviceOfSlice(slice).includes(nameServerService)) request();
    };
    this.slices.addEventHandler({ added: onSlice, updated: (_, slice) => onSlice(slice), deleted: onSlice });
    // A restarted agent takes away what an earlier one has left.
    informers.start();
    void informers.waitForSync().then(request, () => undefined);
  }

  async stopped(): Promise<void> {
    await this.runner.idle();
    await this.deps.informers.stopped();
  }

  private async sync(): Promise<void> {
    const policies = this.policies.lister.list();
    if (policies.length === 0) return this.deps.vnet.setPolicies(owner, []);
    const { pods, namespaces } = await this.follow();
    const compiled = compilePolicies({
      policies,
      pods: pods.lister.list(),
      namespaces: namespaces.lister.list(),
      nameServer: this.nameServer(),
    });
    await this.deps.vnet.setPolicies(owner, compiled);
  }

  private async follow(): Promise<NonNullable<typeof this.selected>> {
    const { informers } = this.deps;
    if (!this.selected) {
      const pods = informers.for(Pods);
      const namespaces = informers.for(Namespaces);
      this.selected = { pods, namespaces };
      const request = () => this.runner.request();
      pods.addEventHandler({
        added: request,
        updated: (old, pod) => {
          if (standingOf(old) !== standingOf(pod)) request();
        },
        deleted: request,
      });
      namespaces.addEventHandler({
        added: request,
        updated: (old, namespace) => {
          if (JSON.stringify(old.metadata.labels) !== JSON.stringify(namespace.metadata.labels)) request();
        },
        deleted: request,
      });
      informers.start();
    }
    await Promise.all([informers.waitForSync(), this.slices.waitForSync()]);
    return this.selected;
  }

  private nameServer(): NameServer | undefined {
    const slices = this.slices.lister.byIndex(serviceIndex, nameServerService);
    const port = slices[0]?.ports?.[0]?.port;
    if (port === undefined) return undefined;
    return {
      addresses: slices.flatMap(({ endpoints }) => endpoints ?? []).flatMap(({ addresses }) => addresses),
      port,
    };
  }
}

/** What of a Pod policies depend on. */
const standingOf = ({ metadata, status }: Pod): string =>
  JSON.stringify([metadata.labels, status?.podIPs, status?.phase]);
