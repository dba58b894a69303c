import type { Process } from '../kernel/process';
import { toBytes } from './bytes';
import { unescape } from './escapes';

/** `echo [-neE] words`. */
export async function echo(process: Process, argv: readonly string[] = process.argv): Promise<number> {
  const args = argv.slice(1);
  let newline = true;
  let escapes = false;
  while (/^-[neE]+$/.test(args[0] ?? '')) {
    const flags = args.shift() ?? '';
    if (flags.includes('n')) newline = false;
    if (flags.includes('e')) escapes = true;
    if (flags.includes('E')) escapes = false;
  }
  const text = args.join(' ');
  const { value, stop } = escapes ? unescape(text) : { value: text, stop: false };
  await process.print(toBytes(`${value}${newline && !stop ? '\n' : ''}`));
  return 0;
}
