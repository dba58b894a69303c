import type { Pod } from '@tinkernetes/api';
import { UsageError } from '@tinkernetes/component-base';
import type { PodVerdict } from './pod-status';

/** What every Pod may set. Source: pkg/kubelet/sysctl/safe_sysctls.go. */
const safe = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ping_group_range',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.tcp_wmem',
];

/** A Pod has its own of these only in a namespace of its own. */
function namespaceOf(sysctl: string): 'ipc' | 'net' | undefined {
  if (sysctl === 'kernel.sem' || /^(kernel\.shm|kernel\.msg|fs\.mqueue\.)/.test(sysctl)) return 'ipc';
  return sysctl.startsWith('net.') ? 'net' : undefined;
}

const dotted = (sysctl: string): string => sysctl.replaceAll('/', '.');

/** Of --allowed-unsafe-sysctls: names, or beginnings of names with a `*` at the end. */
export function parseAllowedSysctls(patterns: readonly string[]): readonly string[] {
  for (const pattern of patterns) {
    if (!/^[a-z0-9]([-_a-z0-9]*[a-z0-9])?([./][a-z0-9]([-_a-z0-9]*[a-z0-9])?)*([./]?\*)?$/.test(pattern))
      throw new UsageError(
        `--allowed-unsafe-sysctls: "${pattern}" is no sysctl name, nor one that ends in *`,
      );
    if (!namespaceOf(dotted(pattern)))
      throw new UsageError(
        `--allowed-unsafe-sysctls: the sysctls "${pattern}" are not known to be namespaced, so that a Pod would set them for the whole node`,
      );
  }
  return patterns.map(dotted);
}

/** Source: pkg/kubelet/sysctl/allowlist.go. */
export function sysctlRefusal({ spec }: Pod, allowedUnsafe: readonly string[]): PodVerdict | undefined {
  for (const { name } of spec.securityContext?.sysctls ?? []) {
    const why = forbidden(dotted(name), spec, allowedUnsafe);
    if (why) return { reason: 'SysctlForbidden', message: `forbidden sysctl: "${name}" ${why}` };
  }
  return undefined;
}

function forbidden(sysctl: string, spec: Pod['spec'], allowedUnsafe: readonly string[]): string | undefined {
  const namespace = namespaceOf(sysctl);
  if (namespace === 'net' && spec.hostNetwork) return 'not allowed with host net enabled';
  if (namespace === 'ipc' && spec.hostIPC) return 'not allowed with host ipc enabled';
  const allowed = [...safe, ...allowedUnsafe].some((pattern) =>
    pattern.endsWith('*') ? sysctl.startsWith(pattern.slice(0, -1)) : sysctl === pattern,
  );
  return allowed ? undefined : 'not allowlisted';
}
