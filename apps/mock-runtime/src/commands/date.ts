import { posix } from 'node:path';
import type { Process } from '../kernel/process';

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const two = (n: number): string => String(n).padStart(2, '0');

/** `date [-u] [-r FILE] [-d @SECONDS|TEXT] [-R|-I|+FORMAT]`, in UTC. */
export async function date(process: Process): Promise<number> {
  const args = process.argv.slice(1);
  let at = process.clock.now();
  let format = '%a %b %e %H:%M:%S UTC %Y';
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? '';
    if (arg === '-d' || arg.startsWith('--date')) {
      const text = arg.includes('=') ? (arg.split('=')[1] ?? '') : (args[++i] ?? '');
      at = text.startsWith('@') ? Number(text.slice(1)) * 1000 : text === 'now' ? at : Date.parse(text);
      if (Number.isNaN(at)) {
        await process.complain(`date: invalid date '${text}'\n`);
        return 1;
      }
    } else if (arg === '-r') {
      const { fs, cwd } = process;
      at = fs.stat(posix.resolve(cwd, args[++i] ?? '')).mtime;
    } else if (arg === '-R') format = '%a, %d %b %Y %H:%M:%S +0000';
    else if (arg.startsWith('-I')) format = arg === '-Iseconds' ? '%Y-%m-%dT%H:%M:%S+00:00' : '%Y-%m-%d';
    else if (arg.startsWith('+')) format = arg.slice(1);
  }
  await process.print(`${formatDate(at, format)}\n`);
  return 0;
}

/** The week of the year whose weeks begin with that day; those before the first are in week 0. */
function weekOf(date: Date, firstDay: number): number {
  const dayOfYear = Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0)) / 86_400_000);
  return Math.floor((dayOfYear + 7 - ((date.getUTCDay() - firstDay + 7) % 7)) / 7);
}

function formatDate(ms: number, format: string): string {
  const d = new Date(ms);
  const day = days[d.getUTCDay()] ?? '';
  const month = months[d.getUTCMonth()] ?? '';
  const hour12 = d.getUTCHours() % 12 || 12;
  const values: Record<string, () => string> = {
    a: () => day.slice(0, 3),
    A: () => day,
    b: () => month.slice(0, 3),
    B: () => month,
    d: () => two(d.getUTCDate()),
    e: () => String(d.getUTCDate()).padStart(2),
    D: () => formatDate(ms, '%m/%d/%y'),
    F: () => formatDate(ms, '%Y-%m-%d'),
    T: () => formatDate(ms, '%H:%M:%S'),
    c: () => formatDate(ms, '%a %b %e %H:%M:%S %Y'),
    H: () => two(d.getUTCHours()),
    I: () => two(hour12),
    j: () => String(Math.floor((ms - Date.UTC(d.getUTCFullYear(), 0)) / 86_400_000) + 1).padStart(3, '0'),
    m: () => two(d.getUTCMonth() + 1),
    M: () => two(d.getUTCMinutes()),
    n: () => '\n',
    N: () => String(Math.floor((ms % 1000) * 1e6)).padStart(9, '0'),
    p: () => (d.getUTCHours() < 12 ? 'AM' : 'PM'),
    s: () => String(Math.floor(ms / 1000)),
    S: () => two(d.getUTCSeconds()),
    u: () => String(d.getUTCDay() || 7),
    y: () => two(d.getUTCFullYear() % 100),
    Y: () => String(d.getUTCFullYear()),
    U: () => two(weekOf(d, 0)),
    W: () => two(weekOf(d, 1)),
    z: () => '+0000',
    Z: () => 'UTC',
    '%': () => '%',
  };
  return format.replace(/%([a-zA-Z%])/g, (whole, letter: string) => values[letter]?.() ?? whole);
}
