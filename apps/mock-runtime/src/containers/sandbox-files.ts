import type { DNSConfig } from '@tinkernetes/cri';
import type { SandboxRecord } from './records';

/** The files that containerd makes for a sandbox and mounts into its containers. */
export function sandboxFiles(sandbox: SandboxRecord, hostname: string): Record<string, string> {
  const [ip = ''] = sandbox.ips;
  return {
    '/etc/hostname': `${hostname}\n`,
    '/etc/hosts': `127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n${ip ? `${ip}\t${hostname}\n` : ''}`,
    '/etc/resolv.conf': resolvConf(sandbox.config.dnsConfig),
  };
}

export function resolvConf(dns: DNSConfig | null): string {
  const lines = [
    ...(dns?.searches.length ? [`search ${dns.searches.join(' ')}`] : []),
    ...(dns?.servers ?? []).map((server) => `nameserver ${server}`),
    ...(dns?.options.length ? [`options ${dns.options.join(' ')}`] : []),
  ];
  return lines.length > 0 ? `${lines.join('\n')}\n` : '';
}
