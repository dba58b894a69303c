import { CniError, cniErrorCode } from '../types';
import { definePlugin, type PluginCall } from '../plugin';

interface PortMapping {
  hostPort: number;
  containerPort: number;
  protocol: string;
  hostIP?: string;
}

/** Host ports by DNAT rules of the node (containernetworking/plugins, portmap). */
export const portmap = definePlugin({
  async add(call, host) {
    const { prevResult } = call.config;
    if (!prevResult)
      throw new CniError(cniErrorCode.invalidNetworkConfig, 'must be called as chained plugin');
    const mappings = mappingsOf(call);
    const address = prevResult.ips?.[0]?.address.split('/')[0];
    if (mappings.length > 0 && address) {
      await host.network(call.config.vnet as string | undefined).setRules(
        ownerOf(call),
        mappings.map((m) => ({
          name: `hostport ${m.hostPort} of ${call.containerId.slice(0, 13)}`,
          protocol: protocolOf(m.protocol),
          port: m.hostPort,
          nodePort: true,
          action: 'DNAT' as const,
          endpoints: [{ address, port: m.containerPort }],
        })),
      );
    }
    return prevResult;
  },

  async del(call, host) {
    await host.network(call.config.vnet as string | undefined).setRules(ownerOf(call), []);
  },
});

const ownerOf = ({ containerId }: PluginCall): string => `portmap/${containerId}`;

function mappingsOf({ config }: PluginCall): PortMapping[] {
  const mappings = config.runtimeConfig?.portMappings;
  return Array.isArray(mappings) ? (mappings as PortMapping[]).filter((m) => m.hostPort > 0) : [];
}

function protocolOf(name: string): 'TCP' | 'UDP' | 'SCTP' {
  const upper = name.toUpperCase();
  return upper === 'UDP' || upper === 'SCTP' ? upper : 'TCP';
}
