import type { Process } from '../kernel/process';
import { parseArgs } from './paths';

/** `sysctl [-n] NAME…`: what the Pod has set; the emulated kernel has nothing else, and a container may set nothing. */
export async function sysctl(process: Process): Promise<number> {
  const { flags, rest } = parseArgs(process.argv.slice(1));
  let status = 0;
  for (const argument of rest) {
    const [name = '', value] = argument.split('=', 2);
    const path = `/proc/sys/${name.replaceAll('.', '/')}`;
    if (!process.fs.exists(path) || process.fs.isDirectory(path)) {
      await process.complain(`sysctl: error: '${name}' is an unknown key\n`);
      status = 1;
    } else if (value !== undefined) {
      await process.complain(`sysctl: error setting key '${name}': Read-only file system\n`);
      status = 1;
    } else {
      const text = process.fs.readFile(path).toString().trimEnd();
      await process.print(flags.has('n') ? `${text}\n` : `${name} = ${text}\n`);
    }
  }
  return status;
}
