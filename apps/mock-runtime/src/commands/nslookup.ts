import type { RecordType } from 'dns-packet';
import type { Process } from '../kernel/process';
import { answers, candidates, lookup, query, readResolvConf, ResolveError } from '../net/resolver';
import { recordText, reverseName } from './dig';

/** `nslookup [-type=TYPE] NAME [SERVER]`, printed as busybox does, or as BIND's where the image has its tools. */
export async function nslookup(process: Process): Promise<number> {
  const args = process.argv.slice(1);
  const [name = '', server] = args.filter((arg) => !arg.startsWith('-'));
  const option = args.map((arg) => /^-(?:type|query|querytype|q)=(\w+)$/.exec(arg)?.[1]).find(Boolean);
  const config = readResolvConf(process.fs);
  const asked = server ?? config.nameservers[0] ?? '127.0.0.1';
  const isBind = process.fs.exists('/usr/bin/dig');
  await process.print(`Server:\t\t${asked}\nAddress:\t${asked}${isBind ? '#' : ':'}53\n\n`);
  const isAddress = /^\d+(?:\.\d+){3}$/.test(name);
  const type = (option?.toUpperCase() ?? (isAddress ? 'PTR' : 'A')) as RecordType;
  if (type !== 'A') {
    const names = isAddress ? [reverseName(name)] : candidates(name, config);
    return records(process, names, { type, server: asked });
  }
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
    // BIND's tells of the name that was asked for, busybox' of each that it tried.
    for (const tried of isBind ? [name] : candidates(name, config))
      await process.print(`** server can't find ${tried}: ${error.reason}\n`);
    await process.print('\n');
    return 1;
  }
}

async function records(
  process: Process,
  names: readonly string[],
  { type, server }: { type: RecordType; server: string },
): Promise<number> {
  for (const name of names) {
    const packet = await query(process, { name, type, server });
    if (!packet) {
      await process.complain(';; connection timed out; no servers could be reached\n\n');
      return 1;
    }
    const found = answers(packet);
    if (found.length === 0) continue;
    await process.print(`${found.map(recordText).join('')}\n`);
    return 0;
  }
  await process.print(`** server can't find ${names.at(-1) ?? ''}: NXDOMAIN\n\n`);
  return 1;
}
