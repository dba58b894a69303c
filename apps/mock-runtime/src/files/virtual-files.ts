import { existsSync, readFileSync, statfsSync } from 'node:fs';
import { cpus, freemem, loadavg, platform, totalmem } from 'node:os';
import type { LinuxContainerResources } from '@tinkernetes/cri';
import { capabilityMask } from '../kernel/capabilities';
import type { Machine, Process } from '../kernel/process';
import { directory, file, link, type FsNode } from './nodes';

export interface ContainerSettings {
  resources: LinuxContainerResources | undefined;
  /** The Pod's, by name: `net.core.somaxconn`. */
  sysctls: Readonly<Record<string, string>>;
}

type Tree = Readonly<Record<string, (machine: Machine, settings: ContainerSettings) => FsNode>>;

const text = (content: string): FsNode => file(content, 0o444);

/** What common scripts look at in /proc and /sys/fs/cgroup; everything is made when it is read. */
const files: Tree = {
  '/proc/uptime': ({ clock, startedAt }) => text(`${((clock.now() - startedAt) / 1000).toFixed(2)} 0.00\n`),
  '/proc/version': () => text('Linux version 6.1.0 (tinkernetes) #1 SMP\n'),
  '/proc/loadavg': ({ table }) =>
    text(
      `${loadavg()
        .map((load) => load.toFixed(2))
        .join(' ')} 1/${table.list().length} ${table.list().length}\n`,
    ),
  // Of the whole machine, as in any container; what the container may have is told by its cgroup.
  '/proc/meminfo': () => text(memoryOfMachine()),
  '/proc/cpuinfo': () =>
    text(
      cpus()
        .map((cpu, i) => `processor\t: ${i}\nmodel name\t: ${cpu.model}\n\n`)
        .join(''),
    ),
  '/proc/mounts': ({ fs }) => text(mountLines(fs)),
  '/proc/self': () => link('1'),
  '/proc/net/dev': ({ net }) =>
    text(
      [...net.interfaces.values()]
        .map(
          (i) => `${i.name.padStart(6)}: ${i.received.bytes} 0 0 0 0 0 0 0 ${i.sent.bytes} 0 0 0 0 0 0 0\n`,
        )
        .join(''),
    ),
  '/proc/sys/kernel/hostname': ({ hostname }) => text(`${hostname}\n`),
  '/sys/fs/cgroup/memory.max': (_machine, { resources }) =>
    text(`${resources?.memoryLimitInBytes ? resources.memoryLimitInBytes : 'max'}\n`),
  '/sys/fs/cgroup/cpu.max': (_machine, { resources }) =>
    text(
      `${resources?.cpuQuota && resources.cpuQuota > 0 ? resources.cpuQuota : 'max'} ${resources?.cpuPeriod || 100000}\n`,
    ),
  '/sys/fs/cgroup/memory.current': ({ memory }) => text(`${memory.usedBytes}\n`),
  '/sys/fs/cgroup/cpu.weight': (_machine, { resources }) =>
    text(`${weightOf(resources?.cpuShares || 1024)}\n`),
  '/sys/fs/cgroup/memory.high': () => text('max\n'),
  '/sys/fs/cgroup/memory.min': () => text('0\n'),
  '/sys/fs/cgroup/memory.swap.max': () => text('0\n'),
  '/sys/fs/cgroup/memory.swap.current': () => text('0\n'),
  '/sys/fs/cgroup/memory.stat': ({ memory, fs }) =>
    text(
      `anon ${memory.usedBytes}\nfile ${fs.writtenBytes}\nkernel 0\nshmem 0\ninactive_file ${fs.writtenBytes}\n`,
    ),
  '/sys/fs/cgroup/cpu.stat': ({ cpu }) => {
    const usage = Math.round(cpu.totalMs() * 1000);
    return text(
      `usage_usec ${usage}\nuser_usec ${usage}\nsystem_usec 0\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n`,
    );
  },
  '/sys/fs/cgroup/cgroup.procs': ({ table }) =>
    text(
      table
        .list()
        .map((process) => `${table.pidOf(process)}\n`)
        .join(''),
    ),
  '/sys/fs/cgroup/pids.max': () => text('max\n'),
  '/sys/fs/cgroup/pids.current': ({ table }) => text(`${table.list().length}\n`),
  '/sys/fs/cgroup/cgroup.controllers': () => text('cpuset cpu io memory pids\n'),
};

const directories = new Set(
  Object.keys(files).flatMap((path) => {
    const parts = path.split('/').slice(1, -1);
    return parts.map((_, i) => `/${parts.slice(0, i + 1).join('/')}`);
  }),
);

export function virtualNode(path: string, machine: Machine, settings: ContainerSettings): FsNode | undefined {
  const make = files[path];
  if (make) return make(machine, settings);
  // What the process's container has as its own; processes of a Pod may share their table.
  const root = /^\/proc\/(\d+)\/root(\/.*)?$/.exec(path);
  if (root) return machine.table.get(Number(root[1]))?.machine.fs.node(root[2] ?? '/');
  const process = /^\/proc\/(\d+)(?:\/(\w+))?$/.exec(path);
  if (process) {
    const found = machine.table.get(Number(process[1]));
    return found && processNode(found, process[2]);
  }
  if (path.startsWith('/proc/sys')) {
    const sysctl = sysctlNode(path, settings.sysctls);
    if (sysctl) return sysctl;
  }
  return directories.has(path) ? directory(childrenOf(path, machine), 0o555) : undefined;
}

/** What the Pod set; the emulated kernel has no others. */
function sysctlNode(path: string, sysctls: ContainerSettings['sysctls']): FsNode | undefined {
  const name = path.slice('/proc/sys/'.length).replaceAll('/', '.');
  for (const [key, value] of Object.entries(sysctls)) {
    if (key.replaceAll('/', '.') === name) return text(`${value}\n`);
    if (key.startsWith(`${name}.`)) return directory({}, 0o555);
  }
  return undefined;
}

/** cgroup v1 shares as v2 weight, as runc converts them. */
const weightOf = (shares: number): number => Math.floor(1 + ((shares - 2) * 9999) / 262142);

function childrenOf(path: string, { table }: Machine): Record<string, FsNode> {
  const names = new Set<string>();
  for (const known of [...Object.keys(files), ...directories])
    if (known.startsWith(`${path}/`)) names.add(known.slice(path.length + 1).split('/')[0] ?? '');
  if (path === '/proc') for (const process of table.list()) names.add(String(table.pidOf(process)));
  return Object.fromEntries(
    [...names].map((name) => [
      name,
      directories.has(`${path}/${name}`) || /^\d+$/.test(name) ? directory({}, 0o555) : text(''),
    ]),
  );
}

function processNode(process: Process, name: string | undefined): FsNode | undefined {
  const command = process.comm;
  const contents: Record<string, () => FsNode> = {
    cmdline: () => text(process.argv.map((arg) => `${arg}\0`).join('')),
    comm: () => text(`${command.slice(0, 15)}\n`),
    environ: () =>
      text(
        Object.entries(process.env)
          .map(([key, value]) => `${key}=${value}\0`)
          .join(''),
      ),
    status: () => text(statusOf(process)),
    cwd: () => link(process.cwd),
    root: () => link('/'),
    exe: () => link(process.argv[0] ?? ''),
    cgroup: () => text('0::/\n'),
    fd: () => directory({}, 0o555),
  };
  if (name === undefined)
    return directory(Object.fromEntries(Object.entries(contents).map(([key, make]) => [key, make()])), 0o555);
  return contents[name]?.();
}

function memoryOfMachine(): string {
  if (platform() === 'linux') return readFileSync('/proc/meminfo', 'utf8');
  const line = (name: string, bytes: number) => `${`${name}:`.padEnd(16)}${Math.floor(bytes / 1024)} kB\n`;
  return line('MemTotal', totalmem()) + line('MemFree', freemem()) + line('MemAvailable', freemem());
}

function mountLines(fs: Machine['fs']): string {
  const lines = ['overlay / overlay rw,relatime 0 0', 'proc /proc proc rw,nosuid,nodev,noexec,relatime 0 0'];
  for (const { containerPath, hostPath, readonly, tree } of fs.mountTable()) {
    const [device, type] = tree ? ['overlay', 'overlay'] : diskOf(hostPath);
    lines.push(`${device} ${containerPath} ${type} ${readonly ? 'ro' : 'rw'},relatime 0 0`);
  }
  return `${lines.join('\n')}\n`;
}

/** The type that statfs tells of a file system in memory. */
export const tmpfs = 0x01021994;

const diskOf = (hostPath: string): [string, string] =>
  existsSync(hostPath) && statfsSync(hostPath).type === tmpfs ? ['tmpfs', 'tmpfs'] : ['/dev/vda1', 'ext4'];

function statusOf({ comm, pid, ppid, user, machine }: Process): string {
  const four = (id: number) => `${`${id}\t`.repeat(4).trim()}`;
  const bounding = capabilityMask(machine.capabilities);
  const own = user.uid === 0 ? bounding : capabilityMask(new Set());
  const none = capabilityMask(new Set());
  const lines = {
    Name: comm,
    State: 'S (sleeping)',
    Tgid: pid,
    Pid: pid,
    PPid: ppid,
    Uid: four(user.uid),
    Gid: four(user.gid),
    Groups: user.groups.join(' '),
    CapInh: none,
    CapPrm: own,
    CapEff: own,
    CapBnd: bounding,
    CapAmb: none,
  };
  return Object.entries(lines)
    .map(([key, value]) => `${key}:\t${value}\n`)
    .join('');
}
