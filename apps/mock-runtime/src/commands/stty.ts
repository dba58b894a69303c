import type { Process } from '../kernel/process';

/** `stty size`, `stty -a`, `stty [-]echo`, `stty sane`: the terminal on stdin. */
export async function stty(process: Process): Promise<number> {
  const { tty } = process;
  if (!tty || !process.stdin.isTty) {
    await process.complain('stty: standard input: Not a tty\n');
    return 1;
  }
  const args = process.argv.slice(1);
  const size = `${tty.height} ${tty.width}`;
  if (args.length === 0 || args[0] === '-a') {
    await process.print(
      `speed 38400 baud; rows ${tty.height}; columns ${tty.width};\n${tty.echoes ? '' : '-'}echo icanon isig\n`,
    );
    return 0;
  }
  for (const arg of args) {
    if (arg === 'size') await process.print(`${size}\n`);
    else if (arg === 'echo' || arg === 'sane') tty.echoes = true;
    else if (arg === '-echo') tty.echoes = false;
    else if (!/^-?(?:raw|cooked|icanon|isig|ixon|opost|onlcr)$/.test(arg)) {
      await process.complain(`stty: invalid argument '${arg}'\n`);
      return 1;
    }
  }
  return 0;
}
