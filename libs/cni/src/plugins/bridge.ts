import { CniError, cniErrorCode, cniVersion, type CniResult, type PluginConfig } from '../types';
import { definePlugin, readOutput, type PluginCall, type PluginHost } from '../plugin';

interface BridgeConfig extends PluginConfig {
  bridge?: string;
  isGateway?: boolean;
  isDefaultGateway?: boolean;
  ipMasq?: boolean;
  hairpinMode?: boolean;
  mtu?: number;
  /** The node's network socket. */
  vnet?: string;
}

/** A veth pair into a bridge, addressed by the IPAM plugin (containernetworking/plugins, bridge). */
export const bridge = definePlugin({
  async add(call, host) {
    const config = call.config as BridgeConfig;
    const name = config.bridge ?? 'cni0';
    const ipam = config.ipam ? await runIpam(call, host, 'ADD') : undefined;
    const ips = ipam?.ips ?? [];
    try {
      const gateway = ips[0]?.gateway;
      const prefix = ips[0]?.address.split('/')[1] ?? '24';
      const isGateway = config.isGateway === true || config.isDefaultGateway === true;
      const made = await host.network(config.vnet).attach({
        netns: call.netns,
        ifname: call.ifname,
        bridge: name,
        addresses: ips.map((ip) => ip.address),
        gateway: isGateway && gateway ? `${gateway}/${prefix}` : undefined,
        ipMasq: config.ipMasq ?? false,
        hairpin: config.hairpinMode ?? false,
        mtu: config.mtu ?? 0,
      });
      const result: CniResult = {
        cniVersion,
        interfaces: [
          { name, mac: made.bridgeMac },
          { name: made.hostIfname, mac: made.hostMac },
          { name: call.ifname, mac: made.mac, sandbox: call.netns },
        ],
        ips: ips.map((ip) => ({ ...ip, interface: 2 })),
        routes: ipam?.routes ?? [],
        dns: ipam?.dns ?? {},
      };
      return result;
    } catch (error) {
      if (config.ipam) await runIpam(call, host, 'DEL');
      throw error;
    }
  },

  async del(call, host) {
    if (call.config.ipam) await runIpam(call, host, 'DEL');
    if (call.netns)
      await host
        .network((call.config as BridgeConfig).vnet)
        .detach({ netns: call.netns, ifname: call.ifname });
  },

  async check(call, host) {
    if (call.config.ipam) await runIpam(call, host, 'CHECK');
    const interfaces = await host.network((call.config as BridgeConfig).vnet).listInterfaces(call.netns);
    const present = interfaces.find((i) => i.name === call.ifname);
    if (!present)
      throw new CniError(cniErrorCode.internal, `interface ${call.ifname} not found in ${call.netns}`);
    for (const ip of call.config.prevResult?.ips ?? []) {
      if (!present.addresses.includes(ip.address))
        throw new CniError(
          cniErrorCode.internal,
          `failed to match interface ${call.ifname} address ${ip.address}`,
        );
    }
  },

  async gc(call, host) {
    if (call.config.ipam) await runIpam(call, host, 'GC');
  },

  async status(call, host) {
    if (call.config.ipam) await runIpam(call, host, 'STATUS');
  },
});

async function runIpam(call: PluginCall, host: PluginHost, command: string): Promise<CniResult | undefined> {
  const type = call.config.ipam?.type;
  if (!type) throw new CniError(cniErrorCode.invalidNetworkConfig, 'missing IPAM type');
  const output = await host.delegate(type, {
    stdin: JSON.stringify(call.config),
    env: { ...call.env, CNI_COMMAND: command },
  });
  return readOutput<CniResult>(type, output);
}
