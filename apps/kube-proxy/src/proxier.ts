import { EndpointSlices, Nodes, Services, type Node } from '@tinkernetes/api';
import type { Clock, Logger, Metrics } from '@tinkernetes/component-base';
import type { SharedInformerFactory } from '@tinkernetes/informers';
import { endpointAnnotation, type VnetClient } from '@tinkernetes/vnet';
import { HealthCheckNodePorts } from './health/health-check-node-ports';
import { healthChecks } from './health/health-checks';
import { nodeRoutes } from './rules/node-routes';
import { RuleTable, serviceIndex, serviceOfSlice } from './rules/rule-table';
import { SyncRunner } from './sync-runner';
import { UserspaceProxy } from './userspace/userspace-proxy';

export interface ProxierDeps {
  informers: SharedInformerFactory;
  vnet: VnetClient;
  clock: Clock;
  logger: Logger;
  metrics: Metrics;
  signal: AbortSignal;
}
export interface ProxierSettings {
  nodeName: string;
  mode: 'iptables' | 'userspace';
  minSyncPeriodMs: number;
  syncPeriodMs: number;
}

/** The rules' and routes' owner at the node's network. */
const owner = 'kube-proxy';

/** Keeps a node's NAT rules and routes equal to the cluster's Services, EndpointSlices and Nodes. */
export class Proxier {
  private readonly services;
  private readonly slices;
  private readonly nodes;
  private readonly table: RuleTable;
  private readonly runner: SyncRunner;
  private readonly syncDuration;
  private readonly userspace: UserspaceProxy | undefined;
  private readonly healthCheckPorts: HealthCheckNodePorts;
  private lastSyncedAt: number | undefined;
  private readonly firstSync: Promise<void>;
  private onFirstSync: () => void = () => undefined;

  constructor(
    private readonly deps: ProxierDeps,
    private readonly settings: ProxierSettings,
  ) {
    const { informers, clock, logger, metrics, signal } = deps;
    this.services = informers.for(Services);
    this.slices = informers.for(EndpointSlices);
    this.nodes = informers.for(Nodes);
    this.slices.addIndex(serviceIndex, serviceOfSlice);
    this.table = new RuleTable(settings.nodeName);
    this.userspace = settings.mode === 'userspace' ? new UserspaceProxy(deps) : undefined;
    this.healthCheckPorts = new HealthCheckNodePorts({ ...deps, isHealthy: () => this.isHealthy() });
    this.firstSync = new Promise((resolve) => (this.onFirstSync = resolve));
    this.runner = new SyncRunner({
      sync: () => this.sync(),
      clock,
      logger,
      signal,
      minIntervalMs: settings.minSyncPeriodMs,
      maxIntervalMs: settings.syncPeriodMs,
    });
    this.syncDuration = metrics.histogram(
      'kubeproxy_sync_proxy_rules_duration_seconds',
      'SyncProxyRules latency in seconds',
      {
        buckets: [
          0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096, 8.192,
          16.384,
        ],
      },
    );
  }

  /** Resolves when the first table was written. To be called with the informers started. */
  async start(): Promise<void> {
    const { informers, signal } = this.deps;
    await informers.waitForSync();
    const request = () => this.runner.request();
    this.services.addEventHandler({ added: request, updated: request, deleted: request });
    this.slices.addEventHandler({ added: request, updated: request, deleted: request });
    this.nodes.addEventHandler({
      added: request,
      updated: (old, node) => {
        // Heartbeats change nothing here.
        if (routingOf(old) !== routingOf(node)) request();
      },
      deleted: request,
    });
    request();
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
      void this.firstSync.then(resolve);
    });
  }

  async stopped(): Promise<void> {
    await this.runner.idle();
  }

  /** Throws when the rules have not been written for twice the longest time that may pass between two writes. */
  checkHealth(): void {
    if (!this.isHealthy()) throw new Error('rules have not been synced for too long');
  }

  private isHealthy(): boolean {
    const age = this.deps.clock.monotonic() - (this.lastSyncedAt ?? -Infinity);
    return age <= 2 * this.settings.syncPeriodMs;
  }

  private async sync(): Promise<void> {
    const { vnet, clock, logger } = this.deps;
    const { nodeName } = this.settings;
    const startedAt = clock.monotonic();
    const rules = this.table.build(
      this.services.lister.list(),
      this.slices.lister,
      this.nodes.lister.get(nodeName),
    );
    const routes = nodeRoutes(this.nodes.lister.list(), nodeName);
    const written = this.userspace ? await this.userspace.redirect(rules) : rules;
    await Promise.all([vnet.setRules(owner, written), vnet.setRoutes(owner, routes)]);
    this.lastSyncedAt = clock.monotonic();
    this.healthCheckPorts.apply(healthChecks(this.services.lister.list(), this.slices.lister, nodeName));
    this.syncDuration.observe((this.lastSyncedAt - startedAt) / 1000);
    logger.debug({ rules: rules.length, routes: routes.length }, 'rules written');
    this.onFirstSync();
  }
}

/** What of a Node the rules and routes depend on. */
function routingOf({ metadata, spec, status }: Node): string {
  return JSON.stringify([
    metadata.annotations?.[endpointAnnotation],
    metadata.labels?.['topology.kubernetes.io/zone'],
    spec?.podCIDRs ?? spec?.podCIDR,
    status?.addresses,
  ]);
}
