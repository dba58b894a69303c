import type { Process } from '../kernel/process';
import { candidates, lookup, readResolvConf, ResolveError } from '../net/resolver';

/** `nslookup NAME [SERVER]`, printed as busybox does. */
export async function nslookup(process: Process): Promise<number> {
  const [name = '', server] = process.argv.slice(1).filter((arg) => !arg.startsWith('-'));
  const config = readResolvConf(process.fs);
  const asked = server ?? config.nameservers[0] ?? '127.0.0.1';
  await process.print(`Server:\t\t${asked}\nAddress:\t${asked}:53\n\n`);
  try {
    const result = await lookup(process, name, server);
    for (const address of result.addresses)
      await process.print(`Name:\t${result.name}\nAddress: ${address}\n`);
    await process.print('\n');
    return 0;
  } catch (error) {
    if (!(error instanceof ResolveError)) throw error;
    if (error.reason === 'TIMEOUT' || error.reason === 'NOSERVER') {
      await process.complain(';; connection timed out; no servers could be reached\n\n');
      return 1;
    }
    for (const tried of candidates(name, config))
      await process.print(`** server can't find ${tried}: ${error.reason}\n`);
    await process.print('\n');
    return 1;
  }
}
