import type { CommandNode } from 'just-bash';
import type { Process } from '../kernel/process';
import { elementOf, sizeOf, textOf, withElement, type Value, type Variable } from './variables';

export type FunctionBody = Extract<CommandNode, { type: 'FunctionDef' }>['body'];

/** `break`, `continue`, `return`: unwind the interpreter to the loop or function that they leave. */
export class LoopJump extends Error {
  constructor(
    readonly kind: 'break' | 'continue',
    public levels: number,
  ) {
    super(kind);
  }
}

export class ReturnJump extends Error {
  constructor(readonly code: number) {
    super('return');
  }
}

/** What must not be (`${x:?}`, readonly, a division by zero): a shell that is not interactive ends. */
export class ShellError extends Error {
  override readonly name = 'ShellError';

  constructor(
    message: string,
    /** `expansion`: bash ends with 127 then, where it is not a subshell. */
    readonly kind: 'expansion' | 'other' = 'other',
  ) {
    super(message);
  }

  exitCode({ dialect, isSubshell }: ShellState): number {
    if (dialect === 'sh') return 2;
    return this.kind === 'expansion' && !isSubshell ? 127 : 1;
  }
}

export const optionNames = {
  errexit: 'e',
  nounset: 'u',
  xtrace: 'x',
  noglob: 'f',
  noclobber: 'C',
  verbose: 'v',
  allexport: 'a',
  pipefail: '',
  nullglob: '',
  dotglob: '',
  expand_aliases: '',
} as const;

export type ShellOption = keyof typeof optionNames;

/** What a subshell gets a copy of. */
export class ShellState {
  readonly variables = new Map<string, Variable>();
  readonly functions = new Map<string, FunctionBody>();
  readonly aliases = new Map<string, string>();
  /** Trap commands by condition: `EXIT`, `ERR`, `SIGTERM`. */
  readonly traps = new Map<string, string>();
  readonly options = new Set<ShellOption>();
  positional: readonly string[] = [];
  status = 0;
  lastBackground = '';
  /** Saved variables of the functions that run, for `local`. */
  readonly locals: Map<string, Variable | undefined>[] = [];
  /** Names of the functions that run, the innermost first. */
  readonly calls: string[] = [];
  loopDepth = 0;
  /** Of the command that runs, in its script. */
  line = 1;
  /** The statement that runs, as it was written. */
  text = '';
  interactive = false;
  isSubshell = false;
  /** Bytes of all variables, as far as they count as memory. */
  size = 0;

  constructor(
    /** `$0`, and what messages begin with. */
    readonly name: string,
    readonly dialect: 'sh' | 'bash',
    /** How the script came: with `-c` its lines are counted and told differently. */
    readonly source: 'command' | 'file' | 'stdin' = 'file',
  ) {}

  static of(
    process: Process,
    name: string,
    dialect: 'sh' | 'bash',
    source?: ShellState['source'],
  ): ShellState {
    const state = new ShellState(name, dialect, source);
    for (const [key, value] of Object.entries(process.env))
      state.variables.set(key, { value, exported: true, readonly: false });
    if (state.get('PATH') === undefined) state.assign('PATH', '/sbin:/usr/sbin:/bin:/usr/bin');
    state.assign('PWD', process.cwd);
    state.assign('IFS', ' \t\n');
    state.assign('OPTIND', '1');
    if (dialect === 'bash') {
      state.assign('BASH_VERSION', '5.2.37(1)-release');
      state.assign('BASH_VERSINFO', ['5', '2', '37', '1', 'release', 'x86_64-pc-linux-gnu']);
    }
    return state;
  }

  clone(): ShellState {
    const copy = new ShellState(this.name, this.dialect, this.source);
    for (const [key, variable] of this.variables) copy.variables.set(key, { ...variable });
    for (const [key, body] of this.functions) copy.functions.set(key, body);
    for (const [key, value] of this.aliases) copy.aliases.set(key, value);
    for (const option of this.options) copy.options.add(option);
    copy.positional = this.positional;
    copy.status = this.status;
    copy.lastBackground = this.lastBackground;
    copy.calls.push(...this.calls);
    copy.line = this.line;
    copy.isSubshell = true;
    return copy;
  }

  get(name: string): string | undefined {
    return textOf(this.variables.get(name)?.value);
  }

  assign(name: string, value: Value): void {
    const known = this.variables.get(name);
    if (known?.readonly) throw new ShellError(this.readonlyMessage(name));
    this.size += sizeOf(value) - (known ? sizeOf(known.value) : 0);
    const attributes = { exported: false, readonly: false, ...known };
    const exported = attributes.exported || this.options.has('allexport');
    this.variables.set(name, { ...attributes, exported, value });
  }

  element(name: string, key: string | number): string | undefined {
    return elementOf(this.variables.get(name)?.value, key);
  }

  assignElement(name: string, key: string | number, text: string | undefined): void {
    this.assign(name, withElement(this.variables.get(name)?.value, key, text));
  }

  /** The attributes of a variable, made when it has none yet. */
  declare(name: string, attributes: Partial<Omit<Variable, 'value'>>): void {
    const known = this.variables.get(name);
    this.variables.set(name, { value: '', exported: false, readonly: false, ...known, ...attributes });
  }

  unset(name: string): void {
    const known = this.variables.get(name);
    if (known?.readonly)
      throw new ShellError(
        this.dialect === 'sh'
          ? this.readonlyMessage(name)
          : `unset: ${name}: cannot unset: readonly variable`,
      );
    if (known) this.size -= sizeOf(known.value);
    this.variables.delete(name);
  }

  /** The environment of a child. */
  environment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
    const env: Record<string, string> = {};
    for (const [key, { value, exported }] of this.variables) if (exported) env[key] = textOf(value) ?? '';
    return { ...env, ...extra };
  }

  private readonlyMessage(name: string): string {
    return this.dialect === 'sh' ? `${name}: is read only` : `${name}: readonly variable`;
  }
}
