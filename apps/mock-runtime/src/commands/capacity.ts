import { statfsSync } from 'node:fs';
import type { HostPlace } from '../files/mounts';
import { tmpfs } from '../files/virtual-files';
import type { Process } from '../kernel/process';
import { absolute, parseArgs } from './paths';

const units: Readonly<Record<string, number>> = { b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** `free [-bkmgh]`: of the machine, which a container sees as a whole. */
export async function free(process: Process): Promise<number> {
  const { flags } = parseArgs(process.argv.slice(1));
  const of = memoryFacts(process);
  const unit = Object.keys(units).find((letter) => flags.has(letter)) ?? 'k';
  const shown = (bytes: number): string =>
    flags.has('h') ? humanSize(bytes) : String(Math.round(bytes / (units[unit] ?? 1024)));
  const cache = of('Buffers') + of('Cached') + of('SReclaimable');
  const total = of('MemTotal');
  const unused = of('MemFree');
  const used = Math.max(0, total - unused - cache);
  const swap = of('SwapTotal');
  const row = (title: string, values: readonly number[]): string =>
    `${title.padEnd(7)}${values
      .map((value) => shown(value).padStart(12))
      .join('')
      .replace(/^ /, '')}\n`;
  await process.print(
    '              total        used        free      shared  buff/cache   available\n' +
      row('Mem:', [total, used, unused, of('Shmem'), cache, of('MemAvailable')]) +
      row('Swap:', [swap, swap - of('SwapFree'), of('SwapFree')]),
  );
  return 0;
}

/** A line of /proc/meminfo in bytes. */
function memoryFacts({ fs }: Process): (name: string) => number {
  const text = fs.readFile('/proc/meminfo').toString();
  return (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0) * 1024;
}

/** `df [-hkm] [path…]`: how full the disks are on which the container's files really lie. */
export async function df(process: Process): Promise<number> {
  const { flags, rest } = parseArgs(process.argv.slice(1), 't');
  const { fs } = process;
  const isHuman = flags.has('h');
  const unit = flags.has('m') ? 1024 ** 2 : 1024;
  const heading = isHuman ? 'Size' : flags.has('m') ? '1M-blocks' : '1K-blocks';
  const lines = [
    `${'Filesystem'.padEnd(20)} ${heading.padStart(9)} ${'Used'.padStart(9)} ${'Available'.padStart(9)} Use% Mounted on`,
  ];
  const roots = [{ containerPath: '/', hostPath: '/' }, ...fs.mountTable()];
  const wanted = rest.map((name) => absolute(process, name));
  let status = 0;
  for (const path of wanted)
    if (!fs.exists(path)) {
      await process.complain(`df: ${path}: No such file or directory\n`);
      status = 1;
    }
  const chosen =
    wanted.length > 0
      ? wanted.filter((path) => fs.exists(path)).map((path) => mountOf(roots, fs.realpath(path)))
      : roots;
  for (const { containerPath, hostPath } of chosen) {
    // An image that is mounted lies where the container's own is.
    const { bsize, blocks, bfree, bavail, type } = statfsSync(hostPath || '/');
    const used = (blocks - bfree) * bsize;
    const available = bavail * bsize;
    const shown = (bytes: number) =>
      (isHuman ? humanSize(bytes) : String(Math.round(bytes / unit))).padStart(9);
    const share = used + available > 0 ? Math.ceil((used / (used + available)) * 100) : 0;
    const isOverlay = containerPath === '/' || hostPath === '';
    const name = isOverlay ? 'overlay' : type === tmpfs ? 'tmpfs' : '/dev/vda1';
    lines.push(
      `${name.padEnd(20)} ${shown(blocks * bsize)} ${shown(used)} ${shown(available)} ${String(share).padStart(3)}% ${containerPath}`,
    );
  }
  await process.print(`${lines.join('\n')}\n`);
  return status;
}

type Root = Pick<HostPlace['mount'], 'containerPath' | 'hostPath'>;

/** The innermost mount that the path is on. */
const mountOf = (roots: readonly Root[], path: string): Root =>
  roots
    .filter(({ containerPath: at }) => at === '/' || path === at || path.startsWith(`${at}/`))
    .reduce((a, b) => (b.containerPath.length > a.containerPath.length ? b : a));

function humanSize(bytes: number): string {
  let value = bytes;
  for (const letter of ['', 'K', 'M', 'G', 'T']) {
    if (value < 1024) return letter === '' ? String(Math.round(value)) : `${value.toFixed(1)}${letter}`;
    value /= 1024;
  }
  return `${value.toFixed(1)}P`;
}
