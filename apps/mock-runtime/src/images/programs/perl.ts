import type { Process } from '../../kernel/process';

/** After this many digits the computation lets other containers run. */
const digitsPerTurn = 50;

/** perl as the Kubernetes documentation's Job uses it: `perl -Mbignum=bpi -wle "print bpi(2000)"`. */
export async function perl(process: Process): Promise<number> {
  const args = process.argv.slice(1);
  const program = args.at(-1) ?? '';
  const pi = /^\s*print\s+bpi\((\d+)\)\s*;?\s*$/.exec(program);
  const text = /^\s*print\s+(?:"([^"]*)"|'([^']*)')\s*;?\s*$/.exec(program);
  const newline = args.some((arg) => /^-\w*l/.test(arg)) ? '\n' : '';
  if (args.includes('-v')) {
    await process.print('\nThis is perl 5, version 42, subversion 0 (v5.42.0)\n');
    return 0;
  }
  if (pi) {
    const digits = await computePi(Number(pi[1]), () => breathe(process));
    await process.print(`${digits.slice(0, 1)}.${digits.slice(1)}${newline}`);
    return 0;
  }
  if (text) {
    await process.print(`${(text[1] ?? text[2] ?? '').replaceAll('\\n', '\n')}${newline}`);
    return 0;
  }
  await process.complain(`perl: this emulated perl only knows print and bpi, not: ${program}\n`);
  return 255;
}

async function breathe(process: Process): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
  process.signal.throwIfAborted();
}

/** `count` significant digits of pi, the last one rounded, by Gibbons' spigot. */
export async function computePi(count: number, pause: () => Promise<void>): Promise<string> {
  let digits = '';
  let [q, r, t, k, n, l] = [1n, 0n, 1n, 1n, 3n, 3n];
  while (digits.length <= count) {
    if (4n * q + r - t < n * t) {
      digits += String(n);
      if (digits.length % digitsPerTurn === 0) await pause();
      const next = 10n * (r - n * t);
      n = (10n * (3n * q + r)) / t - 10n * n;
      q *= 10n;
      r = next;
    } else {
      const next = (2n * q + r) * l;
      n = (q * (7n * k) + 2n + r * l) / (t * l);
      q *= k;
      t *= l;
      l += 2n;
      k += 1n;
      r = next;
    }
  }
  const kept = BigInt(digits.slice(0, count));
  return String(Number(digits[count]) >= 5 ? kept + 1n : kept);
}
