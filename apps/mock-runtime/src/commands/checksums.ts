import { createHash } from 'node:crypto';
import type { Process } from '../kernel/process';
import { commandName, parseArgs } from './paths';
import { linesOf, readInputs } from './inputs';

/** `md5sum`, `sha1sum`, `sha256sum`, `sha512sum`: `[-c] [file…]`. */
export async function checksum(process: Process): Promise<number> {
  const { flags, rest } = parseArgs(process.argv.slice(1));
  const algorithm = commandName(process).replace(/sum$/, '');
  const digest = (data: Buffer) => createHash(algorithm).update(data).digest('hex');
  const { inputs, failed } = await readInputs(process, rest);
  let status = failed ? 1 : 0;
  if (!flags.has('c') && !flags.has('check')) {
    for (const { name, data } of inputs) await process.print(`${digest(data)}  ${name}\n`);
    return status;
  }
  for (const line of inputs.flatMap(({ data }) => linesOf(data))) {
    const [, expected = '', name = ''] = /^([0-9a-f]+) [ *](.*)$/.exec(line) ?? [];
    const checked = await readInputs(process, [name]);
    const isRight = !checked.failed && digest(checked.inputs[0]?.data ?? Buffer.alloc(0)) === expected;
    if (!isRight) status = 1;
    if (!flags.has('s')) await process.print(`${name}: ${isRight ? 'OK' : 'FAILED'}\n`);
  }
  return status;
}
