import type { Process } from '../kernel/process';
import { parseArgs } from './paths';
import { readInputs } from './inputs';

const hex = (data: Buffer): string[] => [...data].map((byte) => byte.toString(16).padStart(2, '0'));
const printable = (data: Buffer): string =>
  [...data].map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '.')).join('');

/** `hexdump -C [-n N] [file]`, `hd` */
export async function hexdump(process: Process): Promise<number> {
  const { values, rest } = parseArgs(process.argv.slice(1), 'n');
  const { inputs, failed } = await readInputs(process, rest);
  const data = Buffer.concat(inputs.map((input) => input.data)).subarray(
    0,
    Number(values.get('n') ?? Infinity),
  );
  for (let at = 0; at < data.length; at += 16) {
    const line = data.subarray(at, at + 16);
    const halves = [hex(line.subarray(0, 8)), hex(line.subarray(8))].map((half) => half.join(' ').padEnd(23));
    await process.print(`${offsetOf(at)}  ${halves.join('  ')}  |${printable(line)}|\n`);
  }
  if (data.length > 0) await process.print(`${offsetOf(data.length)}\n`);
  return failed ? 1 : 0;
}

/** `xxd [-p] [file]` */
export async function xxd(process: Process): Promise<number> {
  const { flags, rest } = parseArgs(process.argv.slice(1), 'lc');
  const { inputs, failed } = await readInputs(process, rest);
  const data = Buffer.concat(inputs.map((input) => input.data));
  if (flags.has('p')) {
    await process.print(data.toString('hex').replace(/.{1,60}/g, '$&\n'));
    return failed ? 1 : 0;
  }
  for (let at = 0; at < data.length; at += 16) {
    const line = data.subarray(at, at + 16);
    const pairs = line.toString('hex').replace(/.{1,4}/g, '$& ');
    await process.print(`${offsetOf(at)}: ${pairs.padEnd(40)} ${printable(line)}\n`);
  }
  return failed ? 1 : 0;
}

const offsetOf = (at: number): string => at.toString(16).padStart(8, '0');
