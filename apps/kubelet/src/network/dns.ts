import type { Pod } from '@tinkernetes/api';
import type { DNSConfig } from '@tinkernetes/cri';
import { readFileSync } from 'node:fs';
import { isHostNetwork, podText } from '../pods/pod-facts';

export interface DNSSettings {
  clusterDNS: readonly string[];
  clusterDomain: string;
  /** The node's own resolver configuration; '' for none. */
  resolvConf: string;
}

const maxSearches = 32;
const maxSearchCharacters = 2048;
const maxServers = 3;

/** A reason and a message for the Pod's events. */
export type DNSWarning = readonly [reason: 'DNSConfigForming' | 'MissingClusterDNS', message: string];

/** What goes into a Pod's /etc/resolv.conf. Source: https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/ */
export function podDNS(pod: Pod, settings: DNSSettings): { config: DNSConfig; warnings: DNSWarning[] } {
  const host = hostDNS(settings.resolvConf);
  const wanted = withPodConfig(pod, policyDNS(pod, settings, host));
  const servers = unique(wanted.servers);
  const searches = unique(wanted.searches);
  const config: DNSConfig = {
    servers: servers.slice(0, maxServers),
    searches: fittingSearches(searches),
    options: wanted.options,
  };
  const warnings: DNSWarning[] = [];
  if (wantsClusterDNS(pod) && settings.clusterDNS.length === 0)
    warnings.push([
      'MissingClusterDNS',
      `pod: "${podText(pod)}". kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.`,
    ]);
  const omitted = (line: string, what: string, name: string, kept: readonly string[]): DNSWarning => [
    'DNSConfigForming',
    `${line} limits were exceeded, some ${what} have been omitted, the applied ${name} line is: ${kept.join(' ')}`,
  ];
  if (config.searches.length < searches.length)
    warnings.push(omitted('Search Line', 'search paths', 'search', config.searches));
  if (config.servers.length < servers.length)
    warnings.push(omitted('Nameserver', 'nameservers', 'nameserver', config.servers));
  return { config, warnings };
}

function fittingSearches(searches: readonly string[]): string[] {
  const fitting = searches.slice(0, maxSearches);
  while (fitting.join(' ').length > maxSearchCharacters) fitting.pop();
  return fitting;
}

function wantsClusterDNS(pod: Pod): boolean {
  const policy = pod.spec.dnsPolicy ?? 'ClusterFirst';
  return policy === 'ClusterFirstWithHostNet' || (policy === 'ClusterFirst' && !isHostNetwork(pod));
}

function policyDNS(pod: Pod, { clusterDNS, clusterDomain }: DNSSettings, host: DNSConfig): DNSConfig {
  if (pod.spec.dnsPolicy === 'None') return { servers: [], searches: [], options: [] };
  if (!wantsClusterDNS(pod) || clusterDNS.length === 0) return host;
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

let latest: { text: string; config: DNSConfig } | undefined;

/** Read for each Pod, since it may change; at once, since that takes less than to wait for it. */
function hostDNS(file: string): DNSConfig {
  let text = '';
  try {
    if (file) text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  if (latest?.text !== text) latest = { text, config: parseResolvConf(text) };
  return latest.config;
}

function parseResolvConf(text: string): DNSConfig {
  const config: DNSConfig = { servers: [], searches: [], options: [] };
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line.trim().split(/\s+/);
    if (keyword === 'nameserver' && values[0]) config.servers.push(values[0]);
    if (keyword === 'search') config.searches = values.map((v) => (v === '.' ? v : v.replace(/\.$/, '')));
    if (keyword === 'options') config.options = values;
  }
  return config;
}

const unique = (values: readonly string[]): string[] => [...new Set(values)];
