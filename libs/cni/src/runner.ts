import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execPlugin, findPlugin } from './exec';
import {
  readOutput,
  type Plugin,
  type PluginHost,
  type PluginInput,
  type PluginNetwork,
  type PluginOutput,
} from './plugin';
import {
  CniError,
  cniErrorCode,
  type Attachment,
  type CniCommand,
  type CniResult,
  type NetworkConfigList,
  type PluginConfig,
} from './types';
import { errorCode } from './error-code';

/** One container's attachment to a network. */
export interface RuntimeConf {
  containerId: string;
  netns: string;
  ifname: string;
  /** CNI_ARGS, `KEY=value` pairs; Kubernetes sends K8S_POD_NAMESPACE, K8S_POD_NAME … */
  args?: Readonly<Record<string, string>>;
  /** Runtime configuration by capability: `{ portMappings: [...] }`. */
  capabilityArgs?: Readonly<Record<string, unknown>>;
}

export interface CniRunnerOptions {
  /** Run in this process; every other type is looked up in `binDir` and executed. */
  plugins: Readonly<Record<string, Plugin>>;
  binDir: string;
  /** Results are kept here until DEL, as libcni does. */
  cacheDir: string;
  network(endpoint: string | undefined): PluginNetwork;
  /** Called around each plugin, for tracing. */
  around?<T>(type: string, command: CniCommand, work: () => Promise<T>): Promise<T>;
}

interface Cached {
  result: CniResult;
}

/** Runs the chain of a network configuration list (CNI specification 1.1, sections 2 and 3). */
export class CniRunner {
  constructor(private readonly options: CniRunnerOptions) {}

  async add(list: NetworkConfigList, conf: RuntimeConf): Promise<CniResult> {
    let result: CniResult | undefined;
    for (const plugin of list.plugins) {
      const config = this.configFor(list, plugin, conf, result);
      result = (await this.run<CniResult>('ADD', config, conf)) ?? result;
    }
    if (!result)
      throw new CniError(cniErrorCode.invalidNetworkConfig, `network "${list.name}" has no plugins`);
    keep(this.cacheFile(list, conf), { result });
    return result;
  }

  /** Deleting twice is no error; what was never added neither. */
  async del(list: NetworkConfigList, conf: RuntimeConf): Promise<void> {
    const prevResult = this.cached(list, conf);
    for (const plugin of [...list.plugins].reverse()) {
      await this.run('DEL', this.configFor(list, plugin, conf, prevResult), conf);
    }
    rmSync(this.cacheFile(list, conf), { force: true });
  }

  async check(list: NetworkConfigList, conf: RuntimeConf): Promise<void> {
    if (list.disableCheck) return;
    const prevResult = this.cached(list, conf);
    for (const plugin of list.plugins)
      await this.run('CHECK', this.configFor(list, plugin, conf, prevResult), conf);
  }

  /** Releases what belongs to none of the valid attachments. */
  async gc(list: NetworkConfigList, valid: readonly Attachment[]): Promise<void> {
    if (list.disableGC) return;
    for (const plugin of list.plugins) {
      const config = { ...this.configFor(list, plugin), 'cni.dev/valid-attachments': valid };
      await this.run('GC', config);
    }
  }

  /** Rejects while a plugin can't serve ADD. */
  async status(list: NetworkConfigList): Promise<void> {
    for (const plugin of list.plugins) await this.run('STATUS', this.configFor(list, plugin));
  }

  private configFor(
    list: NetworkConfigList,
    plugin: NetworkConfigList['plugins'][number],
    conf?: RuntimeConf,
    prevResult?: CniResult,
  ): PluginConfig {
    const { capabilities, ...rest } = plugin;
    const runtimeConfig = Object.fromEntries(
      Object.entries(conf?.capabilityArgs ?? {}).filter(([name]) => capabilities?.[name]),
    );
    return {
      ...rest,
      name: list.name,
      cniVersion: list.cniVersion,
      type: plugin.type,
      ...(Object.keys(runtimeConfig).length > 0 ? { runtimeConfig } : {}),
      ...(prevResult ? { prevResult } : {}),
    };
  }

  private async run<T>(
    command: CniCommand,
    config: PluginConfig,
    conf?: RuntimeConf,
  ): Promise<T | undefined> {
    const env: Record<string, string> = { CNI_COMMAND: command, CNI_PATH: this.options.binDir };
    if (conf) {
      env.CNI_CONTAINERID = conf.containerId;
      env.CNI_NETNS = conf.netns;
      env.CNI_IFNAME = conf.ifname;
      env.CNI_ARGS = Object.entries(conf.args ?? {})
        .map(([key, value]) => `${key}=${value}`)
        .join(';');
    }
    const work = () => this.invoke(config.type, { stdin: JSON.stringify(config), env });
    const output = await (this.options.around?.(config.type, command, work) ?? work());
    return readOutput<T>(config.type, output);
  }

  private async invoke(type: string, input: PluginInput): Promise<PluginOutput> {
    const { plugins, binDir, network, around } = this.options;
    const own = plugins[type];
    const host: PluginHost = {
      network,
      delegate: (delegated, delegatedInput) => {
        const work = () => this.invoke(delegated, delegatedInput);
        return around?.(delegated, delegatedInput.env.CNI_COMMAND as CniCommand, work) ?? work();
      },
    };
    return own ? own(input, host) : execPlugin(await findPlugin(type, binDir), input);
  }

  private cacheFile(list: NetworkConfigList, { containerId, ifname }: RuntimeConf): string {
    return join(this.options.cacheDir, `${list.name}-${containerId}-${ifname}`);
  }

  private cached(list: NetworkConfigList, conf: RuntimeConf): CniResult | undefined {
    try {
      return (JSON.parse(readFileSync(this.cacheFile(list, conf), 'utf8')) as Cached).result;
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  }
}

function keep(file: string, cached: Cached): void {
  try {
    writeFileSync(file, JSON.stringify(cached));
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(cached));
  }
}
