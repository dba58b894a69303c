import { parseArgs } from 'node:util';

/** A command line that can't be used. Its message says what is wrong and what to do; the process exits with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

interface FlagBase {
  help: string;
  /** One-letter alias, e.g. `v`. */
  short?: string;
}
export type FlagSpec =
  | (FlagBase & { type: 'string'; default?: string; choices?: readonly string[] })
  | (FlagBase & { type: 'number'; default?: number; min?: number; max?: number })
  | (FlagBase & { type: 'boolean'; default?: boolean })
  /** Comma-separated, may be given several times; `whole`: only the latter, where values have commas of their own. */
  | (FlagBase & { type: 'list'; default?: readonly string[]; whole?: true })
  /** Go duration (`10s`, `1m30s`, `500ms`); the value is milliseconds. */
  | (FlagBase & { type: 'duration'; default?: number });

type FlagValue<S extends FlagSpec> = S extends { type: 'string' }
  ? S extends { default: string }
    ? string
    : string | undefined
  : S extends { type: 'number' | 'duration' }
    ? S extends { default: number }
      ? number
      : number | undefined
    : S extends { type: 'boolean' }
      ? S extends { default: boolean }
        ? boolean
        : boolean | undefined
      : readonly string[];

/** Values by flag name exactly as on the command line, without the dashes: `flags['leader-elect']`. */
export type FlagValues<S extends Record<string, FlagSpec>> = { [K in keyof S]: FlagValue<S[K]> };

/**
 * Parses upstream-style flags: `--name=value`, `--name value`, `--bool`, `--bool=false`; unknown flags, surplus
 * arguments and wrong values throw UsageError.
 */
export function parseFlags<S extends Record<string, FlagSpec>>(
  specs: S,
  argv: readonly string[],
): FlagValues<S> {
  const raw = tokenize(specs, argv);
  const values: Record<string, unknown> = {};
  for (const [name, spec] of Object.entries(specs)) {
    const given = raw.get(name);
    values[name] = given === undefined ? defaultOf(spec) : valueOf(name, spec, given);
  }
  return values as FlagValues<S>;
}

function tokenize(specs: Record<string, FlagSpec>, argv: readonly string[]): Map<string, string[]> {
  const byShort = new Map(
    Object.entries(specs).flatMap(([name, s]) => (s.short ? [[s.short, name] as const] : [])),
  );
  const options = Object.fromEntries(
    Object.entries(specs).map(([name, s]) => [
      name,
      { type: s.type === 'boolean' ? 'boolean' : 'string', ...(s.short ? { short: s.short } : undefined) },
    ]),
  ) as Record<string, { type: 'string' | 'boolean'; short?: string }>;
  const { tokens } = parseArgs({
    args: [...argv],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const raw = new Map<string, string[]>();
  for (const token of tokens) {
    if (token.kind === 'positional')
      throw new UsageError(`unexpected argument "${token.value}": flags look like --name=value`);
    if (token.kind !== 'option') continue;
    const name = byShort.get(token.name) ?? token.name;
    const spec = specs[name];
    if (!spec) throw new UsageError(`unknown flag: ${token.rawName}${suggestion(name, Object.keys(specs))}`);
    const value = token.value ?? (spec.type === 'boolean' ? 'true' : undefined);
    if (value === undefined) throw new UsageError(`flag needs an argument: ${token.rawName}`);
    raw.set(name, [...(raw.get(name) ?? []), value]);
  }
  return raw;
}

function defaultOf(spec: FlagSpec): unknown {
  return spec.default ?? (spec.type === 'list' ? [] : undefined);
}

function valueOf(name: string, spec: FlagSpec, given: readonly string[]): unknown {
  const last = given[given.length - 1] ?? '';
  switch (spec.type) {
    case 'string':
      if (spec.choices && !spec.choices.includes(last)) {
        throw new UsageError(
          `invalid value "${last}" for --${name}: must be one of ${spec.choices.join(', ')}`,
        );
      }
      return last;
    case 'list':
      return spec.whole ? given : given.flatMap((text) => text.split(',')).filter((text) => text !== '');
    case 'boolean':
      if (last === 'true' || last === '1') return true;
      if (last === 'false' || last === '0') return false;
      throw new UsageError(`invalid value "${last}" for --${name}: must be true or false`);
    case 'number': {
      const number = last.trim() === '' ? NaN : Number(last);
      if (!Number.isInteger(number))
        throw new UsageError(`invalid value "${last}" for --${name}: must be a whole number`);
      if (spec.min !== undefined && number < spec.min)
        throw new UsageError(`invalid value "${last}" for --${name}: must be at least ${spec.min}`);
      if (spec.max !== undefined && number > spec.max)
        throw new UsageError(`invalid value "${last}" for --${name}: must be at most ${spec.max}`);
      return number;
    }
    case 'duration': {
      const ms = parseDuration(last);
      if (ms === undefined)
        throw new UsageError(
          `invalid value "${last}" for --${name}: must be a duration such as 10s or 1m30s`,
        );
      return ms;
    }
  }
}

const durationUnits: Record<string, number> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** Milliseconds of a Go duration string, or undefined when it is none. */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  if (!/^-?(\d+(\.\d*)?(ns|us|µs|ms|s|m|h))+$/.test(text)) return undefined;
  let ms = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d*)?)(ns|us|µs|ms|s|m|h)/g)) {
    ms += Number(amount) * (durationUnits[unit ?? ''] ?? NaN);
  }
  return text.startsWith('-') ? -ms : ms;
}

function suggestion(name: string, known: readonly string[]): string {
  const close = known.find((k) => k.startsWith(name) || name.startsWith(k) || distance(k, name) <= 2);
  return close ? `. Did you mean --${close}?` : '. Use --help for the list.';
}

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(
        (row[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
        (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1),
      );
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** The `--help` text of a component. */
export function usage(component: string, description: string, specs: Record<string, FlagSpec>): string {
  const lines = Object.entries(specs).map(([name, spec]) => {
    const shown = defaultOf(spec);
    const suffix =
      shown === undefined || shown === '' || (Array.isArray(shown) && shown.length === 0)
        ? ''
        : ` (default ${String(shown)}${spec.type === 'duration' ? 'ms' : ''})`;
    return `  --${name.padEnd(36)} ${spec.help}${suffix}`;
  });
  return `${description}\n\nUsage:\n  ${component} [flags]\n\nFlags:\n${lines.join('\n')}\n`;
}
