import type { LinuxContainerSecurityContext } from '@tinkernetes/cri';

/** capabilities(7), in the order of their bits. */
const names = [
  'CHOWN',
  'DAC_OVERRIDE',
  'DAC_READ_SEARCH',
  'FOWNER',
  'FSETID',
  'KILL',
  'SETGID',
  'SETUID',
  'SETPCAP',
  'LINUX_IMMUTABLE',
  'NET_BIND_SERVICE',
  'NET_BROADCAST',
  'NET_ADMIN',
  'NET_RAW',
  'IPC_LOCK',
  'IPC_OWNER',
  'SYS_MODULE',
  'SYS_RAWIO',
  'SYS_CHROOT',
  'SYS_PTRACE',
  'SYS_PACCT',
  'SYS_ADMIN',
  'SYS_BOOT',
  'SYS_NICE',
  'SYS_RESOURCE',
  'SYS_TIME',
  'SYS_TTY_CONFIG',
  'MKNOD',
  'LEASE',
  'AUDIT_WRITE',
  'AUDIT_CONTROL',
  'SETFCAP',
  'MAC_OVERRIDE',
  'MAC_ADMIN',
  'SYSLOG',
  'WAKE_ALARM',
  'BLOCK_SUSPEND',
  'AUDIT_READ',
  'PERFMON',
  'BPF',
  'CHECKPOINT_RESTORE',
] as const;

export type Capability = (typeof names)[number];

/** What containerd leaves to a container that asks for nothing. */
const defaults: readonly Capability[] = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FSETID',
  'FOWNER',
  'MKNOD',
  'NET_RAW',
  'SETGID',
  'SETUID',
  'SETFCAP',
  'SETPCAP',
  'NET_BIND_SERVICE',
  'SYS_CHROOT',
  'KILL',
  'AUDIT_WRITE',
];

export const defaultCapabilities: ReadonlySet<Capability> = new Set(defaults);
const allCapabilities: ReadonlySet<Capability> = new Set(names);

/** The bounding set of a container: the defaults, changed by `capabilities`; everything for a privileged one. */
export function capabilitiesOf(
  context: Pick<LinuxContainerSecurityContext, 'privileged' | 'capabilities'> | null | undefined,
): ReadonlySet<Capability> {
  if (context?.privileged) return allCapabilities;
  const changes = context?.capabilities;
  if (!changes) return defaultCapabilities;
  const set = new Set(defaultCapabilities);
  // ALL first, so that single ones can be taken from or added to it, as containerd does.
  if (changes.addCapabilities.some(isAll)) for (const name of names) set.add(name);
  if (changes.dropCapabilities.some(isAll)) set.clear();
  for (const name of changes.addCapabilities.flatMap(known)) set.add(name);
  for (const name of changes.dropCapabilities.flatMap(known)) set.delete(name);
  return set;
}

/** As /proc/PID/status shows a set: 16 hexadecimal digits. */
export function capabilityMask(set: ReadonlySet<Capability>): string {
  const bits = names.reduce((sum, name, bit) => (set.has(name) ? sum | (1n << BigInt(bit)) : sum), 0n);
  return bits.toString(16).padStart(16, '0');
}

const isAll = (name: string): boolean => name.toUpperCase() === 'ALL';

function known(name: string): Capability[] {
  const short = name.toUpperCase().replace(/^CAP_/, '');
  return names.filter((other) => other === short);
}
