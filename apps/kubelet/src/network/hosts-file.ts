import type { Pod } from '@tinkernetes/api';

/** A Pod's /etc/hosts. Source: pkg/kubelet managedHostsFileContent; `hostAliases` in the Pod reference. */
export function hostsFile(
  pod: Pod,
  { hostname, domain, ips }: { hostname: string; domain: string; ips: readonly string[] },
): string {
  const lines = [
    '# Kubernetes-managed hosts file.',
    '127.0.0.1\tlocalhost',
    '::1\tlocalhost ip6-localhost ip6-loopback',
    'fe00::0\tip6-localnet',
    'fe00::0\tip6-mcastprefix',
    'fe00::1\tip6-allnodes',
    'fe00::2\tip6-allrouters',
    ...ips.map((ip) => (domain ? `${ip}\t${hostname}.${domain}\t${hostname}` : `${ip}\t${hostname}`)),
  ];
  return `${lines.join('\n')}\n${hostAliases(pod)}`;
}

/** For Pods in the host's network: the node's own file and the aliases. */
export function hostNetworkHostsFile(pod: Pod, nodeFile: string): string {
  return `# Kubernetes-managed hosts file (host network).\n${nodeFile}${hostAliases(pod)}`;
}

function hostAliases(pod: Pod): string {
  const aliases = pod.spec.hostAliases ?? [];
  if (aliases.length === 0) return '';
  const lines = aliases.map(({ ip, hostnames = [] }) => [ip, ...hostnames].join('\t'));
  return `\n# Entries added by HostAliases.\n${lines.join('\n')}\n`;
}
