import type { CommandNode, PipelineNode, ScriptNode, SimpleCommandNode, StatementNode } from 'just-bash';
import type { OpenFile } from '../kernel/open-file';
import { Pipe } from '../kernel/pipe';
import { Exit, type Process } from '../kernel/process';
import { ExecError, spawn } from '../kernel/spawn';
import type { SignalName } from '../kernel/signals';
import { builtins } from './builtins';
import { testConditional } from './conditional';
import { Expansion } from './expansion';
import { patternRegExp } from './patterns';
import { openRedirections } from './redirections';
import { LoopJump, ReturnJump, ShellError, type FunctionBody, type ShellState } from './state';
import {
  parseScript,
  ShellSyntaxError,
  type Assignment,
  type CompoundCommand,
  type Redirection,
} from './syntax';

/** After this long without waiting for anything, a script lets the event loop run: a busy loop stops nobody else. */
const timeSliceMs = 5;
const maxFunctionDepth = 200;

/** Executes a script in a process of the container. */
export class Interpreter {
  readonly expansion: Expansion;
  readonly jobs = new Map<number, Process>();
  /** Signals that arrived for traps, run between commands. */
  private readonly pendingTraps: string[] = [];
  private wakeWaiters: (() => void)[] = [];
  private sliceStart: number;
  private conditionDepth = 0;
  private functionDepth = 0;
  /** Of the last command substitution: the status of an assignment without command. */
  private substitutionStatus = 0;

  constructor(
    readonly process: Process,
    readonly state: ShellState,
  ) {
    this.sliceStart = process.clock.monotonic();
    this.expansion = new Expansion({ process, state, substitute: (script) => this.substitute(script) });
  }

  /** Runs a script's text; syntax errors are reported and give 2. */
  async runText(text: string): Promise<number> {
    let script: ScriptNode;
    try {
      script = await parseScript(text);
    } catch (error) {
      if (!(error instanceof ShellSyntaxError)) throw error;
      await this.complain(`syntax error: ${error.message}`);
      return (this.state.status = 2);
    }
    return this.statements(script.statements);
  }

  async statements(list: readonly StatementNode[]): Promise<number> {
    for (const statement of list) await this.statement(statement);
    return this.state.status;
  }

  complain(message: string): Promise<void> {
    return this.process.complain(`${this.state.name}: ${message}\n`);
  }

  /** `trap` installs through this, so that a signal is remembered until the shell can run its command. */
  catchSignal(signal: SignalName): void {
    this.process.onSignal(signal, () => {
      this.pendingTraps.push(signal);
      for (const wake of this.wakeWaiters.splice(0)) wake();
    });
  }

  /** Resolves at once when a trapped signal arrives: `wait` ends early then. */
  untilTrap(): Promise<void> {
    return new Promise((resolve) => this.wakeWaiters.push(resolve));
  }

  get trapped(): boolean {
    return this.pendingTraps.length > 0;
  }

  async runTraps(): Promise<void> {
    for (let signal = this.pendingTraps.shift(); signal; signal = this.pendingTraps.shift()) {
      const command = this.state.traps.get(signal);
      const { status } = this.state;
      if (command) await this.runText(command);
      this.state.status = status;
    }
  }

  /** The EXIT trap, once. */
  async runExitTrap(code: number): Promise<number> {
    const command = this.state.traps.get('EXIT');
    if (command === undefined) return code;
    this.state.traps.delete('EXIT');
    this.state.status = code;
    try {
      await this.runText(command);
      return code;
    } catch (error) {
      if (error instanceof Exit) return error.code;
      throw error;
    }
  }

  private async statement(statement: StatementNode): Promise<void> {
    await this.breathe();
    if (statement.deferredError) {
      await this.complain(`syntax error: unexpected "${statement.deferredError.token}"`);
      this.process.exit(2);
    }
    if (statement.background) return this.background(statement);
    for (const [index, pipeline] of statement.pipelines.entries()) {
      const operator = index === 0 ? ';' : (statement.operators[index - 1] ?? ';');
      if (operator === '&&' && this.state.status !== 0) continue;
      if (operator === '||' && this.state.status === 0) continue;
      const last = index === statement.pipelines.length - 1;
      this.state.status = last
        ? await this.pipeline(pipeline)
        : await this.condition(() => this.pipeline(pipeline));
      // errexit looks only at the last pipeline of an and-or list, and not at negated ones.
      if (last && !pipeline.negated) this.checkErrexit();
    }
    if (this.trapped) await this.runTraps();
  }

  private checkErrexit(): void {
    if (this.state.options.errexit && this.conditionDepth === 0 && this.state.status !== 0)
      this.process.exit(this.state.status);
  }

  private async condition<T>(work: () => Promise<T>): Promise<T> {
    this.conditionDepth += 1;
    try {
      return await work();
    } finally {
      this.conditionDepth -= 1;
    }
  }

  private async background(statement: StatementNode): Promise<void> {
    const files = new Map(this.process.files);
    const child = this.subshell(files, true);
    this.jobs.set(child.process.pid, child.process);
    this.state.lastBackground = String(child.process.pid);
    void child.process.run(() => child.finish(() => child.statements([{ ...statement, background: false }])));
    if (this.state.dialect === 'bash' && this.process.tty && this.process.pid !== 1)
      await this.process.complain(`[${this.jobs.size}] ${child.process.pid}\n`);
    this.state.status = 0;
  }

  private async pipeline({ commands, negated, pipeStderr }: PipelineNode): Promise<number> {
    const [first] = commands;
    let status: number;
    if (commands.length === 1 && first) {
      status = negated ? await this.condition(() => this.command(first)) : await this.command(first);
    } else {
      status = await this.piped(commands, pipeStderr ?? []);
    }
    return negated ? (status === 0 ? 1 : 0) : status;
  }

  private async piped(commands: readonly CommandNode[], pipeStderr: readonly boolean[]): Promise<number> {
    const children: Promise<number>[] = [];
    let input: OpenFile | undefined;
    for (const [index, command] of commands.entries()) {
      const pipe = index < commands.length - 1 ? new Pipe() : undefined;
      const files = new Map(this.process.files);
      if (input) files.set(0, input);
      if (pipe) files.set(1, pipe.writeEnd);
      if (pipe && pipeStderr[index]) files.set(2, pipe.writeEnd);
      const child = this.subshell(files);
      children.push(child.process.run(() => child.finish(() => child.command(command))));
      // The children hold the ends now.
      input?.release();
      pipe?.writeEnd.release();
      input = pipe?.readEnd;
    }
    const codes = await Promise.all(children);
    if (this.state.options.pipefail) return codes.findLast((code) => code !== 0) ?? 0;
    return codes.at(-1) ?? 0;
  }

  /** A copy of this shell in a child process; the files are inherited. */
  private subshell(files: ReadonlyMap<number, OpenFile>, background?: boolean): Interpreter {
    const process = this.process.fork({ files, background });
    return new Interpreter(process, this.state.clone());
  }

  /** A subshell's end: what leaves the interpreter by exception becomes an exit code. */
  private async finish(work: () => Promise<number>): Promise<number> {
    try {
      return await this.runExitTrap(await work());
    } catch (error) {
      if (error instanceof Exit) return this.runExitTrap(error.code);
      if (error instanceof ReturnJump) return error.code;
      if (error instanceof LoopJump) return 0;
      if (!(error instanceof ShellError)) throw error;
      await this.complain(error.message);
      return error.exitCode;
    }
  }

  private async substitute(script: ScriptNode): Promise<string> {
    const pipe = new Pipe();
    const files = new Map(this.process.files).set(1, pipe.writeEnd);
    const child = this.subshell(files);
    const ended = child.process.run(() => child.finish(() => child.statements(script.statements)));
    pipe.writeEnd.release();
    const output = await pipe.readEnd.readAll(this.process.signal);
    pipe.readEnd.release();
    this.substitutionStatus = await ended;
    return output.toString().replace(/\n+$/, '');
  }

  async command(command: CommandNode): Promise<number> {
    if (command.type === 'SimpleCommand') return this.simple(command);
    if (command.type === 'FunctionDef') {
      this.state.functions.set(command.name, command.body);
      return 0;
    }
    return this.redirected(command.redirections, () => this.compound(command));
  }

  private async compound(command: CompoundCommand): Promise<number> {
    switch (command.type) {
      case 'If':
        for (const { condition, body } of command.clauses)
          if ((await this.condition(() => this.statements(condition))) === 0) return this.body(body);
        return command.elseBody ? this.body(command.elseBody) : 0;
      case 'For': {
        const values =
          command.words === null ? this.state.positional : await this.expansion.fields(command.words);
        let status = 0;
        for (const value of values) {
          this.state.assign(command.variable, value);
          const outcome = await this.iteration(command.body);
          status = outcome.status;
          if (outcome.leave) break;
        }
        return status;
      }
      case 'CStyleFor': {
        let status = 0;
        if (command.init) await this.expansion.arithmetic(command.init);
        while (!command.condition || (await this.expansion.arithmetic(command.condition)) !== 0n) {
          const outcome = await this.iteration(command.body);
          status = outcome.status;
          if (outcome.leave) break;
          if (command.update) await this.expansion.arithmetic(command.update);
        }
        return status;
      }
      case 'While':
      case 'Until': {
        let status = 0;
        const goesOn = command.type === 'While' ? (code: number) => code === 0 : (code: number) => code !== 0;
        while (goesOn(await this.condition(() => this.statements(command.condition)))) {
          const outcome = await this.iteration(command.body);
          status = outcome.status;
          if (outcome.leave) break;
        }
        return status;
      }
      case 'Case': {
        const word = await this.expansion.text(command.word);
        let fallThrough = false;
        let status = 0;
        for (const { patterns, body, terminator } of command.items) {
          let matches = fallThrough;
          for (const pattern of patterns)
            matches ||= patternRegExp(await this.expansion.pattern(pattern)).test(word);
          if (!matches) continue;
          status = await this.body(body);
          if (terminator === ';;') return status;
          fallThrough = terminator === ';&';
        }
        return status;
      }
      case 'Group':
        return this.body(command.body);
      case 'Subshell': {
        const child = this.subshell(this.process.files);
        return child.process.run(() => child.finish(() => child.statements(command.body)));
      }
      case 'ArithmeticCommand':
        return (await this.expansion.arithmetic(command.expression)) === 0n ? 1 : 0;
      case 'ConditionalCommand':
        return (await testConditional(this, command.expression)) ? 0 : 1;
      case 'FunctionDef':
        return this.command(command);
    }
  }

  private async body(list: readonly StatementNode[]): Promise<number> {
    this.state.status = 0;
    return this.statements(list);
  }

  private async iteration(body: readonly StatementNode[]): Promise<{ status: number; leave: boolean }> {
    this.state.loopDepth += 1;
    try {
      return { status: await this.body(body), leave: false };
    } catch (error) {
      if (!(error instanceof LoopJump)) throw error;
      error.levels -= 1;
      if (error.levels > 0 && this.state.loopDepth > 1) throw error;
      return { status: 0, leave: error.kind === 'break' };
    } finally {
      this.state.loopDepth -= 1;
    }
  }

  private async simple({ name, args, assignments, redirections }: SimpleCommandNode): Promise<number> {
    this.substitutionStatus = 0;
    const [commandName, ...rest] = await this.expansion.fields(name ? [name, ...args] : args);
    if (commandName === undefined) {
      await this.redirected(redirections, async () => 0);
      for (const assignment of assignments) await this.assign(assignment);
      return this.substitutionStatus;
    }
    const argv = [commandName, ...rest];
    if (this.state.options.xtrace) await this.process.complain(`+ ${argv.join(' ')}\n`);
    const body = this.state.functions.get(commandName);
    const builtin = builtins[commandName];
    if (commandName === 'exec' && rest.length === 0) return this.redirectForGood(redirections);
    if (body || builtin) {
      return this.redirected(redirections, async () => {
        const restore = await this.temporarily(assignments);
        try {
          return body ? await this.callFunction(body, rest) : builtin ? await builtin(this, argv) : 0;
        } finally {
          restore();
        }
      });
    }
    return this.redirected(redirections, () => this.external(argv, assignments));
  }

  private async external(argv: readonly string[], assignments: readonly Assignment[]): Promise<number> {
    const extra: Record<string, string> = {};
    for (const { name, value } of assignments) extra[name] = value ? await this.expansion.text(value) : '';
    try {
      const child = await spawn.start(this.process, argv, { env: this.state.environment(extra) });
      return await child.exited;
    } catch (error) {
      if (!(error instanceof ExecError)) throw error;
      await this.complain(this.execMessage(argv[0] ?? '', error));
      return error.exitCode;
    }
  }

  execMessage(command: string, error: ExecError): string {
    const [, reason = error.message] = /: ([^:]+)$/.exec(error.message) ?? [];
    if (error.code === 'not executable')
      return `${command}: ${reason.charAt(0).toUpperCase()}${reason.slice(1)}`;
    if (command.includes('/'))
      return `${command}: ${this.state.dialect === 'bash' ? 'No such file or directory' : 'not found'}`;
    return `${command}: ${this.state.dialect === 'bash' ? 'command not found' : 'not found'}`;
  }

  private async callFunction(body: FunctionBody, args: readonly string[]): Promise<number> {
    if (this.functionDepth >= maxFunctionDepth)
      throw new ShellError('maximum function nesting level exceeded');
    const { positional } = this.state;
    const saved = new Map<string, ReturnType<ShellState['variables']['get']>>();
    this.state.positional = args;
    this.state.locals.push(saved);
    this.functionDepth += 1;
    try {
      return await this.command(body);
    } catch (error) {
      if (error instanceof ReturnJump) return error.code;
      throw error;
    } finally {
      this.functionDepth -= 1;
      this.state.locals.pop();
      this.state.positional = positional;
      for (const [key, variable] of saved) {
        if (variable) this.state.variables.set(key, variable);
        else this.state.variables.delete(key);
      }
    }
  }

  private async assign({ name, value, append, array }: Assignment): Promise<void> {
    const element = /^(\w+)\[(.+)\]$/.exec(name);
    if (array) {
      const items = await this.expansion.fields(array);
      const before = append ? this.state.variables.get(name)?.value : undefined;
      this.state.assign(name, [...(Array.isArray(before) ? before : []), ...items]);
      return;
    }
    const text = value ? await this.expansion.text(value) : '';
    if (element) this.state.assignElement(element[1] ?? '', Number(element[2]), text);
    else this.state.assign(name, append ? (this.state.get(name) ?? '') + text : text);
  }

  /** Assignments before a function or builtin last as long as it. */
  private async temporarily(assignments: readonly Assignment[]): Promise<() => void> {
    const saved = new Map(assignments.map(({ name }) => [name, this.state.variables.get(name)]));
    for (const assignment of assignments) await this.assign(assignment);
    return () => {
      for (const [name, variable] of saved) {
        if (variable) this.state.variables.set(name, variable);
        else this.state.variables.delete(name);
      }
    };
  }

  /** Runs with redirected descriptors and puts the old ones back. */
  private async redirected(
    redirections: readonly Redirection[],
    work: () => Promise<number>,
  ): Promise<number> {
    if (redirections.length === 0) return work();
    const files = new Map([...this.process.files].map(([fd, file]) => [fd, file.retain()]));
    const opened = await openRedirections(this, redirections, files);
    if (!opened) {
      for (const file of files.values()) file.release();
      return 1;
    }
    const before = new Map(this.process.files);
    replaceFiles(this.process, files);
    try {
      return await work();
    } finally {
      for (const file of this.process.files.values()) file.release();
      replaceFiles(this.process, before);
    }
  }

  /** `exec >file`: the shell's own descriptors change. */
  private async redirectForGood(redirections: readonly Redirection[]): Promise<number> {
    return (await openRedirections(this, redirections, this.process.files)) ? 0 : 1;
  }

  private async breathe(): Promise<void> {
    this.process.signal.throwIfAborted();
    const now = this.process.clock.monotonic();
    if (now - this.sliceStart < timeSliceMs) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.sliceStart = this.process.clock.monotonic();
    this.process.signal.throwIfAborted();
  }
}

function replaceFiles(process: Process, files: ReadonlyMap<number, OpenFile>): void {
  process.files.clear();
  for (const [fd, file] of files) process.files.set(fd, file);
}
