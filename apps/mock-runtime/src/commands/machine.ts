import { groupEntries, passwdEntries } from '../containers/users';
import { ExecError, spawn } from '../kernel/spawn';
import type { Process } from '../kernel/process';

/** Small commands about the machine that a container sees, and about running others. */

export async function arch(process: Process): Promise<number> {
  await process.print('x86_64\n');
  return 0;
}

/** `groups`: the user's, by name. */
export async function groups(process: Process): Promise<number> {
  const known = groupEntries(process.fs);
  const { gid, groups: others } = process.user;
  const names = [...new Set([gid, ...others])].map(
    (id) => known.find((g) => g.gid === id)?.name ?? String(id),
  );
  await process.print(`${names.join(' ')}\n`);
  return 0;
}

/** `mount` without arguments: what is mounted where. Nothing else can be mounted in a container. */
export async function mount(process: Process): Promise<number> {
  if (process.argv.length > 1) {
    await process.complain('mount: permission denied (are you root?)\n');
    return 1;
  }
  const table = process.fs.readFile('/proc/mounts').toString().trimEnd().split('\n');
  for (const line of table) {
    const [device = '', path = '', type = '', options = ''] = line.split(' ');
    await process.print(`${device} on ${path} type ${type} (${options})\n`);
  }
  return 0;
}

export async function uptime(process: Process): Promise<number> {
  const { clock, startedAt } = process.machine;
  const minutes = Math.floor((clock.now() - startedAt) / 60_000);
  const time = new Date(clock.now()).toISOString().slice(11, 19);
  const up =
    minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}`;
  await process.print(` ${time} up ${up},  0 users,  load average: 0.00, 0.00, 0.00\n`);
  return 0;
}

/** `nohup COMMAND…` */
export async function nohup(process: Process): Promise<number> {
  process.onSignal('SIGHUP', () => undefined);
  return become(process, process.argv.slice(1));
}

/** `setsid COMMAND…`: there are no sessions to leave. */
export async function setsid(process: Process): Promise<number> {
  return become(
    process,
    process.argv.slice(1).filter((arg, index) => index > 0 || !arg.startsWith('-')),
  );
}

async function become(process: Process, argv: readonly string[]): Promise<number> {
  const [name = ''] = process.argv;
  try {
    return await spawn.become(process, argv);
  } catch (error) {
    if (!(error instanceof ExecError)) throw error;
    await process.complain(`${name}: can't execute '${argv[0] ?? ''}': No such file or directory\n`);
    return error.exitCode;
  }
}

/** The user's name, where the image knows it. */
export const userName = ({ fs }: Process, uid: number): string =>
  passwdEntries(fs).find((entry) => entry.uid === uid)?.name ?? String(uid);
