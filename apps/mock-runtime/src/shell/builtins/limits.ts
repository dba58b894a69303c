import type { Builtin } from './builtin';

/** What containerd gives its containers. The emulated kernel counts none of it, so that a lower limit has no effect. */
const limits: Readonly<Record<string, { title: string; unit: string; value: string }>> = {
  c: { title: 'core file size', unit: 'blocks', value: 'unlimited' },
  d: { title: 'data seg size', unit: 'kb', value: 'unlimited' },
  f: { title: 'file size', unit: 'blocks', value: 'unlimited' },
  l: { title: 'locked memory', unit: 'kb', value: '8192' },
  m: { title: 'memory', unit: 'kb', value: 'unlimited' },
  n: { title: 'nofiles', unit: '', value: '1048576' },
  s: { title: 'stack', unit: 'kb', value: '8192' },
  t: { title: 'time', unit: 'seconds', value: 'unlimited' },
  u: { title: 'process', unit: '', value: 'unlimited' },
  v: { title: 'vmemory', unit: 'kb', value: 'unlimited' },
};

/** `ulimit [-HS] [-a | -n …] [value]` */
export const ulimit: Builtin = async ({ process }, argv) => {
  const letters = argv
    .slice(1)
    .filter((arg) => arg.startsWith('-'))
    .join('')
    .replace(/[-HS]/g, '');
  const value = argv.slice(1).find((arg) => !arg.startsWith('-'));
  if (value !== undefined) return 0;
  if (letters.includes('a')) {
    const line = ({ title, unit, value }: (typeof limits)[string]) =>
      `${`${title}${unit && ` (${unit})`}`.padEnd(24)} ${value}\n`;
    await process.print(Object.values(limits).map(line).join(''));
    return 0;
  }
  await process.print(`${limits[letters || 'f']?.value ?? 'unlimited'}\n`);
  return 0;
};
