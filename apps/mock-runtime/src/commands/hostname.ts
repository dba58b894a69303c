import type { Process } from '../kernel/process';
import { parseArgs } from './paths';

const letters: Readonly<Record<string, string>> = {
  '--domain': '-d',
  '--fqdn': '-f',
  '--long': '-f',
  '--short': '-s',
  '--ip-address': '-i',
  '--all-ip-addresses': '-I',
};

/** `hostname [-fsdiI]`: the full name is the first one beside it in /etc/hosts, as a resolver has it. */
export async function hostname(process: Process): Promise<number> {
  const { flags } = parseArgs(process.argv.slice(1).map((arg) => letters[arg] ?? arg));
  await process.print(`${shown(process, flags)}\n`);
  return 0;
}

function shown(process: Process, flags: ReadonlySet<string>): string {
  const { hostname: name } = process.machine;
  if (flags.has('i') || flags.has('I')) return process.net.primaryAddress();
  if (flags.has('f')) return fullName(process, name);
  if (flags.has('d')) return fullName(process, name).split('.').slice(1).join('.');
  return flags.has('s') ? (name.split('.')[0] ?? name) : name;
}

function fullName({ fs }: Process, name: string): string {
  if (!fs.exists('/etc/hosts')) return name;
  for (const line of fs.readFile('/etc/hosts').toString().split('\n')) {
    const [, ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (names.includes(name)) return names[0] ?? name;
  }
  return name;
}
