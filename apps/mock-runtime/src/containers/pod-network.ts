import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  builtInPlugins,
  CniRunner,
  configFiles,
  loadNetwork,
  type NetworkConfigList,
  type PluginNetwork,
  type RuntimeConf,
} from '@tinkernetes/cni';
import type { Logger, Random, StepId, StepTracer } from '@tinkernetes/component-base';
import type { PodSandboxConfig } from '@tinkernetes/cri';
import { createVnetClient, type VnetClient } from '@tinkernetes/vnet';
import { errorCode } from '../error-code';
import type { NodeNetwork } from '../network/node-network';

export interface PodNetworkOptions {
  rootDir: string;
  confDir: string;
  binDir: string;
  nodeName: string;
  network: NodeNetwork;
  random: Random;
  logger: Logger;
  tracer: StepTracer;
}

const ifname = 'eth0';

/** containerd's text while no network configuration has been found. */
const notInitialized = 'cni plugin not initialized';

/** Gives sandboxes their network: a namespace, then the CNI chain of the node's configuration. */
export class PodNetwork {
  private list: NetworkConfigList | undefined;
  private readonly clients = new Map<string, VnetClient>();

  constructor(private readonly options: PodNetworkOptions) {}

  /** Why the network is not ready; undefined when it is. */
  notReady(): string | undefined {
    return this.list ? undefined : 'Network plugin returns error: cni plugin not initialized';
  }

  /** Reads the configuration again; plugins may have brought one of their own. */
  async reload(): Promise<void> {
    this.list = await loadNetwork(this.options.confDir);
  }

  /** CRI UpdateRuntimeConfig: writes the default network for this range, unless another one is there already. */
  async usePodCidr(podCidr: string): Promise<void> {
    const { confDir, network, rootDir } = this.options;
    network.podCidr = podCidr;
    const own = '10-tinkernetes.conflist';
    const files = await configFiles(confDir);
    if (podCidr !== '' && files.every((name) => name === own)) {
      await mkdir(confDir, { recursive: true });
      const text = JSON.stringify(defaultNetwork(podCidr, join(rootDir, 'cni/networks')), undefined, 2);
      await writeFile(join(confDir, `${own}.tmp`), `${text}\n`);
      await rename(join(confDir, `${own}.tmp`), join(confDir, own));
    }
    await this.reload();
  }

  async setUp(
    id: string,
    config: PodSandboxConfig,
    traceParent: string | undefined,
  ): Promise<{ netns: string; ips: string[] }> {
    if (!this.list) await this.reload();
    const list = this.list;
    if (!list) throw new Error(notInitialized);
    const { network, random, rootDir } = this.options;
    const netns = join(rootDir, 'netns', `cni-${random.uid()}`);
    touch(netns);
    network.namespace(netns);
    const conf = runtimeConf(id, config, netns);
    try {
      const result = await this.runner(config, traceParent).add(list, conf);
      const ips = (result.ips ?? []).map((ip) => ip.address.split('/')[0] ?? '');
      return { netns, ips };
    } catch (error) {
      await this.tearDown(id, config, netns);
      throw error;
    }
  }

  async tearDown(id: string, config: PodSandboxConfig, netns: string): Promise<void> {
    const { network, logger } = this.options;
    if (this.list) {
      try {
        await this.runner(config, undefined).del(this.list, runtimeConf(id, config, netns));
      } catch (error) {
        logger.warn({ err: error, sandbox: id }, 'network of a sandbox not released');
      }
    }
    network.removeNamespace(netns);
    rmSync(netns, { force: true });
  }

  /** Releases addresses of sandboxes that no longer exist (CNI GC), e.g. after the runtime was killed. */
  async collectGarbage(sandboxIds: readonly string[]): Promise<void> {
    if (!this.list) return;
    await this.runner(undefined, undefined).gc(
      this.list,
      sandboxIds.map((containerID) => ({ containerID, ifname })),
    );
  }

  stop(): void {
    for (const client of this.clients.values()) client.close();
  }

  private runner(config: PodSandboxConfig | undefined, parent: string | undefined): CniRunner {
    const { binDir, rootDir, tracer, nodeName } = this.options;
    let current = parent;
    return new CniRunner({
      plugins: builtInPlugins,
      binDir,
      cacheDir: join(rootDir, 'cni/results'),
      network: (endpoint) => this.pluginNetwork(endpoint),
      around: (type, command, work) => {
        const step: StepId = type === 'host-local' ? 'cni.ipam' : 'cni.add';
        if (command !== 'ADD' || !parent) return work();
        const options = {
          parent: current,
          node: nodeName,
          object: podOf(config),
          attributes: { 'cni.plugin': type, 'cni.network': this.list?.name ?? '' },
        };
        return tracer.step(step, options, async (span) => {
          const outer = current;
          current = span.traceParent;
          try {
            return await work();
          } finally {
            current = outer;
          }
        });
      },
    });
  }

  /** Without an endpoint: this node's network, in this process. */
  private pluginNetwork(endpoint: string | undefined): PluginNetwork {
    const { network } = this.options;
    if (endpoint) {
      const known = this.clients.get(endpoint) ?? createVnetClient(endpoint);
      this.clients.set(endpoint, known);
      return known;
    }
    return {
      attach: async (request) => network.attach(request),
      detach: async ({ netns, ifname: name }) => network.detach(netns, name),
      listInterfaces: async (netns) => [...network.namespace(netns).interfaces.values()],
      setRules: async (owner, rules) => network.setRules(owner, rules),
    };
  }
}

function touch(file: string): void {
  try {
    writeFileSync(file, '');
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '');
  }
}

function podOf(config: PodSandboxConfig | undefined) {
  const metadata = config?.metadata;
  return metadata
    ? { kind: 'Pod', namespace: metadata.namespace, name: metadata.name, uid: metadata.uid }
    : undefined;
}

function runtimeConf(id: string, config: PodSandboxConfig, netns: string): RuntimeConf {
  const { metadata, portMappings, dnsConfig } = config;
  return {
    containerId: id,
    netns,
    ifname,
    args: {
      IgnoreUnknown: '1',
      K8S_POD_NAMESPACE: metadata?.namespace ?? '',
      K8S_POD_NAME: metadata?.name ?? '',
      K8S_POD_INFRA_CONTAINER_ID: id,
      K8S_POD_UID: metadata?.uid ?? '',
    },
    capabilityArgs: {
      portMappings: portMappings
        .filter((mapping) => mapping.hostPort > 0)
        .map((mapping) => ({
          hostPort: mapping.hostPort,
          containerPort: mapping.containerPort,
          protocol: mapping.protocol.toLowerCase(),
          hostIP: mapping.hostIp,
        })),
      ...(dnsConfig
        ? { dns: { servers: dnsConfig.servers, searches: dnsConfig.searches, options: dnsConfig.options } }
        : {}),
    },
  };
}

/** As the template that containerd's `conf_template` gives. */
function defaultNetwork(podCidr: string, dataDir: string): NetworkConfigList {
  return {
    cniVersion: '1.1.0',
    name: 'tinkernetes',
    plugins: [
      {
        type: 'bridge',
        bridge: 'cni0',
        isGateway: true,
        ipMasq: true,
        hairpinMode: true,
        ipam: {
          type: 'host-local',
          dataDir,
          // A runtime that several nodes share takes addresses from the ranges of all of them.
          ranges: [podCidr.split(',').map((subnet) => ({ subnet }))],
          routes: [{ dst: '0.0.0.0/0' }],
        },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  };
}
