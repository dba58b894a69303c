import type { CommandNode, PipelineNode, ScriptNode, StatementNode } from 'just-bash';
import type { OpenFile } from '../kernel/open-file';
import { Pipe } from '../kernel/pipe';
import { Exit, type Process } from '../kernel/process';
import type { SignalName } from '../kernel/signals';
import { runCompound } from './compound';
import { Expansion } from './expansion';
import { builtinComplaint, complaint, syntaxComplaint } from './messages';
import { openRedirections } from './redirections';
import { runSimple } from './simple-command';
import { LoopJump, ReturnJump, ShellError, type ShellState } from './state';
import { parseScript, ShellSyntaxError, type Redirection } from './syntax';

/** After this long without waiting for anything, a script lets the event loop run: a busy loop stops nobody else. */
const timeSliceMs = 5;

/** Variables below this size don't count as memory. */
const countedSize = 1024 * 1024;

/** Executes a script in a process of the container. */
export class Interpreter {
  readonly expansion: Expansion;
  readonly jobs = new Map<number, Process>();
  functionDepth = 0;
  /** Of the last command substitution: the status of an assignment without command. */
  substitutionStatus = 0;
  /** Signals that arrived for traps, run between commands. */
  private readonly pendingTraps: string[] = [];
  private wakeWaiters: (() => void)[] = [];
  private sliceStart: number;
  private conditionDepth = 0;
  /** The script that runs, for messages. */
  private text = '';
  /** Process substitutions of the command that runs: their descriptors are closed after it. */
  private substitutions: number[] = [];

  constructor(
    readonly process: Process,
    readonly state: ShellState,
    private readonly shellPid = process.pid,
  ) {
    this.sliceStart = process.clock.monotonic();
    this.expansion = new Expansion({
      process,
      state,
      shellPid,
      substitute: (script) => this.substitute(script),
      processSubstitution: (script, direction) => this.processSubstitution(script, direction),
    });
  }

  /** Runs a script's text; syntax errors are reported and give 2. */
  async runText(text: string): Promise<number> {
    let script: ScriptNode;
    try {
      script = await parseScript(text);
    } catch (error) {
      if (!(error instanceof ShellSyntaxError)) throw error;
      await this.process.complain(syntaxComplaint(this.state, error.message, text));
      return (this.state.status = 2);
    }
    return this.topLevel(script.statements, text);
  }

  /** A line with a syntax error is not begun; those before it have been. */
  private async topLevel(list: readonly StatementNode[], text: string): Promise<number> {
    this.text = text;
    for (const [index, statement] of list.entries()) {
      const next = list[index + 1];
      if (next && isOnLineOf(next, statement, text)) await this.broken(next, lineOf(statement));
      await this.statement(statement);
    }
    return this.state.status;
  }

  private async broken({ deferredError }: StatementNode, line = this.state.line): Promise<never> {
    const message = `line ${line}: ${deferredError?.message ?? ''}`;
    await this.process.complain(syntaxComplaint(this.state, message, this.text));
    return this.process.exit(2);
  }

  async statements(list: readonly StatementNode[]): Promise<number> {
    for (const statement of list) await this.statement(statement);
    return this.state.status;
  }

  complain(message: string): Promise<void> {
    return this.process.complain(complaint(this.state, message));
  }

  /** On behalf of a command that runs inside the shell. */
  complainAs(builtin: string, message: string): Promise<void> {
    return this.process.complain(builtinComplaint(this.state, builtin, message));
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
    this.state.text = statement.sourceText?.trim() ?? '';
    if (statement.deferredError) await this.broken(statement);
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
      if (last && !pipeline.negated) await this.afterFailure();
    }
    if (this.pendingTraps.length > 0) await this.runTraps();
  }

  private async afterFailure(): Promise<void> {
    const { state } = this;
    if (state.status === 0 || this.conditionDepth > 0) return;
    const onError = state.traps.get('ERR');
    if (onError !== undefined) {
      const { status } = state;
      state.traps.delete('ERR');
      await this.runText(onError);
      state.traps.set('ERR', onError);
      state.status = status;
    }
    if (state.options.has('errexit')) this.process.exit(state.status);
  }

  async condition<T>(work: () => Promise<T>): Promise<T> {
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
    if (this.state.dialect === 'bash' && this.state.interactive)
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
    this.state.assign('PIPESTATUS', codes.map(String));
    if (this.state.options.has('pipefail')) return codes.findLast((code) => code !== 0) ?? 0;
    return codes.at(-1) ?? 0;
  }

  /** A copy of this shell in a child process; the files are inherited. */
  subshell(files: ReadonlyMap<number, OpenFile>, background?: boolean): Interpreter {
    const process = this.process.fork({ files, background });
    return new Interpreter(process, this.state.clone(), this.shellPid);
  }

  /** A subshell's end: what leaves the interpreter by exception becomes an exit code. */
  async finish(work: () => Promise<number>): Promise<number> {
    return this.runExitTrap(await this.statusOf(work));
  }

  async statusOf(work: () => Promise<number>): Promise<number> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Exit) return error.code;
      if (error instanceof ReturnJump) return error.code;
      if (error instanceof LoopJump) return 0;
      if (!(error instanceof ShellError)) throw error;
      await this.complain(error.message);
      return error.exitCode(this.state);
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

  /** `<(…)`, `>(…)`: a pipe of which the command finds one end as /dev/fd/N. */
  private processSubstitution(script: ScriptNode, direction: 'input' | 'output'): string {
    const pipe = new Pipe();
    const [theirs, ours] =
      direction === 'input'
        ? ([pipe.writeEnd, pipe.readEnd] as const)
        : ([pipe.readEnd, pipe.writeEnd] as const);
    const child = this.subshell(new Map(this.process.files).set(direction === 'input' ? 1 : 0, theirs));
    void child.process.run(() => child.finish(() => child.statements(script.statements)));
    theirs.release();
    let fd = 63;
    while (this.process.files.has(fd)) fd -= 1;
    this.process.files.set(fd, ours);
    this.substitutions.push(fd);
    return `/dev/fd/${fd}`;
  }

  async command(command: CommandNode): Promise<number> {
    if (command.type === 'FunctionDef') {
      this.state.functions.set(command.name, command.body);
      return 0;
    }
    const outer = this.substitutions;
    this.substitutions = [];
    try {
      if (command.type === 'SimpleCommand') return await runSimple(this, command);
      return await this.redirected(command.redirections, () => runCompound(this, command));
    } finally {
      for (const fd of this.substitutions) {
        this.process.files.get(fd)?.release();
        this.process.files.delete(fd);
      }
      this.substitutions = outer;
      this.account();
    }
  }

  async body(list: readonly StatementNode[]): Promise<number> {
    this.state.status = 0;
    return this.statements(list);
  }

  /** Runs with redirected descriptors and puts the old ones back. */
  async redirected(redirections: readonly Redirection[], work: () => Promise<number>): Promise<number> {
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
  async redirectForGood(redirections: readonly Redirection[]): Promise<number> {
    return (await openRedirections(this, redirections, this.process.files)) ? 0 : 1;
  }

  private account(): void {
    const { state, process } = this;
    if (state.size > countedSize) process.machine.memory.hold(process, state.size);
  }

  private async breathe(): Promise<void> {
    this.process.signal.throwIfAborted();
    const { clock, machine } = this.process;
    const now = clock.monotonic();
    if (now - this.sliceStart < timeSliceMs) return;
    machine.cpu.spend(Math.min(now - this.sliceStart, timeSliceMs));
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.sliceStart = clock.monotonic();
    this.process.signal.throwIfAborted();
  }
}

const lineOf = (statement: StatementNode): number | undefined => statement.pipelines[0]?.commands[0]?.line;

/** Statements that only a newline separates are on different lines. */
function isOnLineOf(next: StatementNode, statement: StatementNode, text: string): boolean {
  if (!next.deferredError) return false;
  const line = text.split('\n')[(lineOf(statement) ?? 1) - 1] ?? '';
  return line.includes(next.deferredError.token);
}

function replaceFiles(process: Process, files: ReadonlyMap<number, OpenFile>): void {
  process.files.clear();
  for (const [fd, file] of files) process.files.set(fd, file);
}
