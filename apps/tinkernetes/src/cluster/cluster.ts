import { mkdir, rm, chmod } from 'node:fs/promises';
import type { Server } from 'node:http';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { UsageError, withLinkedSignal, type Clock, type Random } from '@tinkernetes/component-base';
import type { Client } from '@tinkernetes/client';
import type { ClusterOptions } from '../options';
import { ComponentFailedError } from '../launcher/process-launcher';
import { Supervisor } from '../launcher/supervisor';
import type { Launcher } from '../launcher/types';
import { applyManifests, installOnce } from './apply';
import {
  dnsAccessManifests,
  dnsManifests,
  networkPolicyAccessManifests,
  nodeBootstrapManifests,
  storageAccessManifests,
  storageManifests,
} from './addons';
import { allSpecs, apiserverSpec, localSite, type ComponentSpec, type SpecContext } from './component-specs';
import { openControlSocket } from './control-socket';
import { adminClient, ensureCredentials, serverUrl } from './credentials';
import { withExtraFlags } from './extra-config';
import { ClusterLayout, network } from './layout';
import { waitForNodes } from './node-readiness';
import { chooseApiPort } from './ports';
import { readState, writeState, type ClusterState } from './state';

export interface ClusterDeps {
  launcher(layout: ClusterLayout): Launcher;
  clock: Clock;
  random: Random;
  /** One line of progress or trouble for the user. */
  report(line: string): void;
  /** Somebody asked for a stop on the control socket. */
  onStopRequest(): void;
}

/** A running cluster: its components, kept running, in one data directory. */
export class Cluster {
  private constructor(
    readonly layout: ClusterLayout,
    readonly options: ClusterOptions,
    readonly state: ClusterState,
    private readonly supervisor: Supervisor,
    private readonly control: Server,
    private readonly client: Client,
  ) {}

  get server(): string {
    return serverUrl(this.options.bind, this.state.apiPort);
  }

  /**
   * Starts everything and resolves when all nodes are Ready. On failure what was started is stopped again. Throws
   * UsageError where the user has to change something (busy port, data directory in use, damaged files).
   */
  static async start(options: ClusterOptions, deps: ClusterDeps, signal: AbortSignal): Promise<Cluster> {
    const layout = new ClusterLayout(options.dataDir);
    await makeDataDir(layout);
    const previous = await readState(layout);
    let cluster: Cluster | undefined;
    /** Something can't be started as it was asked for: a start would wait for it forever. */
    const refused = new AbortController();
    const control = await openControlSocket(layout, {
      report: () => ({
        pid: process.pid,
        server: cluster?.server ?? '',
        kubeconfig: options.kubeconfig,
        nodes: options.nodes,
        components: cluster?.supervisor.status() ?? [],
      }),
      stop: deps.onStopRequest,
    });
    try {
      const apiPort = await chooseApiPort({
        bind: options.bind,
        asked: options.apiPort,
        previous: previous?.apiPort,
      });
      const state: ClusterState = {
        version: 1,
        id: previous?.id ?? deps.random.uid(),
        bootstrapToken: previous?.bootstrapToken ?? `${deps.random.hex(3)}.${deps.random.hex(8)}`,
        apiPort,
      };
      const server = serverUrl(options.bind, apiPort);
      await ensureCredentials({
        layout,
        state,
        server,
        admin: { file: options.kubeconfig, server },
        names: {
          dnsNames: [hostname()],
          ipAddresses: [network.controlPlaneAddress, ...specificAddress(options.bind)],
        },
        now: deps.clock.now(),
      });
      await writeState(layout, state);
      const launcher = deps.launcher(layout);
      const supervisor = new Supervisor({
        launcher,
        clock: deps.clock,
        report: deps.report,
        onReady: (spec, info) => cluster?.onComponentReady(spec, info),
        onRefused: ({ instance }, { reason }) => refused.abort(new UsageError(`${instance} ${reason}`)),
      });
      const client = await adminClient(layout, launcher.loopback);
      cluster = new Cluster(layout, options, state, supervisor, control, client);
      const starting = cluster;
      await withLinkedSignal([signal, refused.signal], (linked) => starting.bringUp(deps, linked));
      return cluster;
    } catch (error) {
      await (cluster ? cluster.stop() : closeServer(control));
      throw error;
    }
  }

  /** Stops all components, nodes first and the API server last, and leaves no socket behind. */
  async stop(): Promise<void> {
    await this.supervisor.stop((spec) => spec.app !== 'apiserver');
    await this.supervisor.stop();
    this.client.close();
    await closeServer(this.control);
    await rm(this.layout.runDir, { recursive: true, force: true });
    if (this.options.ephemeral) await rm(this.layout.dataDir, { recursive: true, force: true });
  }

  private async bringUp(deps: ClusterDeps, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const sinceMs = deps.clock.now();
    const context: SpecContext = { layout: this.layout, site: localSite, options: this.options };
    const specs = allSpecs(context, this.options);
    deps.report('Starting the API server …');
    const apiserver = this.supervisor.start(
      withExtraFlags(apiserverSpec(context, this.state.apiPort), this.options.extraConfig),
      { required: true },
    );
    // Runtimes need no API server: they get ready meanwhile.
    for (const spec of specs.filter((s) => s.app === 'mock-runtime')) void this.supervisor.start(spec);
    await untilAborted(apiserver, signal).catch((error: unknown) => {
      throw error instanceof ComponentFailedError && error.exit.exitCode === 2
        ? new UsageError(error.exit.reason, { cause: error })
        : error;
    });
    await Promise.all([
      applyManifests(this.client, [
        ...nodeBootstrapManifests(this.state.bootstrapToken),
        ...dnsAccessManifests(),
        ...networkPolicyAccessManifests(),
        ...storageAccessManifests(),
      ]),
      installOnce(this.client, 'tinkernetes-storage', storageManifests()),
    ]);
    deps.report(`Starting ${specs.length} more components …`);
    const { without, nodes } = this.options;
    for (const spec of specs.filter(isNeededToJoin)) void this.supervisor.start(spec);
    if (!lacksJoiner(without))
      await untilAborted(
        waitForNodes(this.client, { count: nodes, sinceMs, signal, report: deps.report }),
        signal,
      );
    // What works for the whole cluster begins when the nodes have joined: until then every core is theirs.
    const others = specs.filter((spec) => !isNeededToJoin(spec) && spec.app !== 'mock-runtime');
    await untilAborted(Promise.all(others.map((spec) => this.supervisor.start(spec))), signal);
  }

  /** cluster-dns listens on another port after each start: its Service's endpoints follow. */
  private onComponentReady(spec: ComponentSpec, info: Readonly<Record<string, unknown>>): void {
    if (spec.app !== 'cluster-dns' || typeof info.port !== 'number') return;
    applyManifests(
      this.client,
      dnsManifests({ address: network.controlPlaneAddress, port: info.port }),
    ).catch((error: Error) => {
      process.emitWarning(`could not point the kube-dns Service to cluster-dns: ${error.message}`);
    });
  }
}

const joiners: ReadonlySet<ComponentSpec['app']> = new Set(['controller-manager', 'kubelet']);
const isNeededToJoin = (spec: ComponentSpec): boolean => joiners.has(spec.app);

/** Whether something without which no node joins is left out. */
const lacksJoiner = (without: ClusterOptions['without']): boolean =>
  without.has('controller-manager') || without.has('kubelet') || without.has('mock-runtime');

async function makeDataDir(layout: ClusterLayout): Promise<void> {
  try {
    await mkdir(layout.dataDir, { recursive: true });
    await chmod(layout.dataDir, 0o700);
  } catch (error) {
    throw new UsageError(
      `can't use the data directory ${layout.dataDir}: ${(error as Error).message}. Choose another with --data-dir`,
    );
  }
}

/** The address that the server is bound to, where it is one and not all of them. */
const specificAddress = (bind: string): string[] =>
  isIP(bind) && bind !== '0.0.0.0' && bind !== '::' ? [bind] : [];

const closeServer = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

/** `work`, or the signal's reason if it is aborted first; what `work` comes to then is nobody's concern. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
