import { ExecError, spawn } from '../kernel/spawn';
import type { Process } from '../kernel/process';

/** `xargs [-0r] [-n N] [-I TOKEN] [command…]`. */
export async function xargs(process: Process): Promise<number> {
  const args = process.argv.slice(1);
  let perCall = Infinity;
  let token: string | undefined;
  let separator = /\s+/;
  let skipEmpty = false;
  while (/^-/.test(args[0] ?? '')) {
    const flag = args.shift() ?? '';
    if (flag.startsWith('-n')) perCall = Number(flag.slice(2) || args.shift());
    else if (flag.startsWith('-I')) token = flag.slice(2) || args.shift();
    else if (flag === '-0') separator = /\0/;
    else if (flag === '-r') skipEmpty = true;
  }
  const command = args.length > 0 ? args : ['echo'];
  const input = (await process.stdin.readAll(process.signal)).toString();
  const items = input.split(token === undefined ? separator : /\n/).filter((item) => item !== '');
  const calls: string[][] = [];
  if (token !== undefined)
    for (const item of items) calls.push(command.map((arg) => arg.replaceAll(token, item)));
  else
    for (let i = 0; i < items.length; i += perCall) calls.push([...command, ...items.slice(i, i + perCall)]);
  if (items.length === 0 && !skipEmpty && token === undefined) calls.push([...command]);
  let status = 0;
  for (const argv of calls) {
    try {
      const child = await spawn.start(process, argv);
      if ((await child.exited) !== 0) status = 123;
    } catch (error) {
      if (!(error instanceof ExecError)) throw error;
      await process.complain(`xargs: ${argv[0]}: No such file or directory\n`);
      return error.exitCode;
    }
  }
  return status;
}
