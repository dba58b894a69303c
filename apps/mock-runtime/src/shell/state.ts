import type { CommandNode } from 'just-bash';
import type { Process } from '../kernel/process';

export type FunctionBody = Extract<CommandNode, { type: 'FunctionDef' }>['body'];

export interface Variable {
  value: string | string[];
  exported: boolean;
  readonly: boolean;
}

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

/** An expansion or assignment that must not be (`${x:?}`, readonly): a non-interactive shell ends. */
export class ShellError extends Error {
  override readonly name = 'ShellError';

  constructor(
    message: string,
    readonly exitCode = 1,
  ) {
    super(message);
  }
}

export interface ShellOptions {
  errexit: boolean;
  nounset: boolean;
  xtrace: boolean;
  noglob: boolean;
  pipefail: boolean;
}

/** What a subshell gets a copy of. */
export class ShellState {
  readonly variables = new Map<string, Variable>();
  readonly functions = new Map<string, FunctionBody>();
  readonly aliases = new Map<string, string>();
  /** Trap commands by condition: `EXIT`, `SIGTERM`. */
  readonly traps = new Map<string, string>();
  readonly options: ShellOptions = {
    errexit: false,
    nounset: false,
    xtrace: false,
    noglob: false,
    pipefail: false,
  };
  positional: readonly string[] = [];
  status = 0;
  lastBackground = '';
  /** Saved variables of the functions that run, for `local`. */
  readonly locals: Map<string, Variable | undefined>[] = [];
  loopDepth = 0;

  constructor(
    /** `$0`, and what messages begin with. */
    readonly name: string,
    readonly dialect: 'sh' | 'bash',
  ) {}

  static of(process: Process, name: string, dialect: 'sh' | 'bash'): ShellState {
    const state = new ShellState(name, dialect);
    for (const [key, value] of Object.entries(process.env))
      state.variables.set(key, { value, exported: true, readonly: false });
    state.assign('PWD', process.cwd);
    state.assign('IFS', ' \t\n');
    return state;
  }

  clone(): ShellState {
    const copy = new ShellState(this.name, this.dialect);
    for (const [key, variable] of this.variables) copy.variables.set(key, { ...variable });
    for (const [key, body] of this.functions) copy.functions.set(key, body);
    for (const [key, value] of this.aliases) copy.aliases.set(key, value);
    Object.assign(copy.options, this.options);
    copy.positional = this.positional;
    copy.status = this.status;
    copy.lastBackground = this.lastBackground;
    return copy;
  }

  get(name: string): string | undefined {
    const value = this.variables.get(name)?.value;
    return Array.isArray(value) ? value[0] : value;
  }

  assign(name: string, value: string | string[]): void {
    const known = this.variables.get(name);
    if (known?.readonly) throw new ShellError(`${name}: readonly variable`);
    this.variables.set(name, { exported: false, readonly: false, ...known, value });
  }

  assignElement(name: string, index: number, value: string): void {
    const known = this.variables.get(name)?.value;
    const list = Array.isArray(known) ? [...known] : known === undefined ? [] : [known];
    list[index] = value;
    this.assign(
      name,
      Array.from(list, (item) => item ?? ''),
    );
  }

  export(name: string): void {
    const known = this.variables.get(name);
    this.variables.set(name, { value: '', readonly: false, ...known, exported: true });
  }

  unset(name: string): void {
    if (this.variables.get(name)?.readonly)
      throw new ShellError(`unset: ${name}: cannot unset: readonly variable`);
    this.variables.delete(name);
  }

  /** The environment of a child. */
  environment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
    const env: Record<string, string> = {};
    for (const [key, { value, exported }] of this.variables)
      if (exported) env[key] = Array.isArray(value) ? (value[0] ?? '') : value;
    return { ...env, ...extra };
  }
}
