import type { Pod } from '@tinkernetes/api';
import type { DNSConfig } from '@tinkernetes/cri';
import { readFileSync } from 'node:fs';
import { isHostNetwork } from '../pods/pod-facts';

export interface DNSSettings {
  clusterDNS: readonly string[];
  clusterDomain: string;
  /** The node's own resolver configuration; '' for none. */
  resolvConf: string;
}

const maxSearches = 32;
const maxServers = 3;

/** What goes into a Pod's /etc/resolv.conf. Source: https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/ */
export function podDNS(pod: Pod, settings: DNSSettings): DNSConfig {
  const host = hostDNS(settings.resolvConf);
  const config = withPodConfig(pod, policyDNS(pod, settings, host));
  return {
    servers: unique(config.servers).slice(0, maxServers),
    searches: unique(config.searches).slice(0, maxSearches),
    options: config.options,
  };
}

function policyDNS(pod: Pod, { clusterDNS, clusterDomain }: DNSSettings, host: DNSConfig): DNSConfig {
  const policy = pod.spec.dnsPolicy ?? 'ClusterFirst';
  if (policy === 'None') return { servers: [], searches: [], options: [] };
  const cluster = policy === 'ClusterFirstWithHostNet' || (policy === 'ClusterFirst' && !isHostNetwork(pod));
  if (!cluster || clusterDNS.length === 0) return host;
  const namespace = pod.metadata.namespace ?? '';
  const searches = clusterDomain
    ? [`${namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain]
    : [];
  return { servers: [...clusterDNS], searches: [...searches, ...host.searches], options: ['ndots:5'] };
}

function withPodConfig(pod: Pod, base: DNSConfig): DNSConfig {
  const { nameservers = [], searches = [], options = [] } = pod.spec.dnsConfig ?? {};
  const merged = new Map(base.options.map((o) => [o.split(':')[0] ?? o, o]));
  for (const { name = '', value } of options) merged.set(name, value ? `${name}:${value}` : name);
  return {
    servers: [...base.servers, ...nameservers],
    searches: [...base.searches, ...searches],
    options: [...merged.values()],
  };
}

/** Read for each Pod, since it may change; at once, since that takes less than to wait for it. */
function hostDNS(file: string): DNSConfig {
  const config: DNSConfig = { servers: [], searches: [], options: [] };
  if (!file) return config;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return config;
    throw error;
  }
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line.trim().split(/\s+/);
    if (keyword === 'nameserver' && values[0]) config.servers.push(values[0]);
    if (keyword === 'search') config.searches = values.map((v) => (v === '.' ? v : v.replace(/\.$/, '')));
    if (keyword === 'options') config.options = values;
  }
  return config;
}

const unique = (values: readonly string[]): string[] => [...new Set(values)];
