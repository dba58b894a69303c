import type { Clock, Random } from '@tinkernetes/component-base';
import type { FileSystem } from '../files/file-system';
import type { NetNamespace } from '../network/net-namespace';
import type { Capability } from './capabilities';
import type { Cpu } from './cpu';
import type { Memory } from './memory';
import { BrokenPipe, OpenFile, nullFile } from './open-file';
import type { ProcessTable } from './process-table';
import type { Tty } from './tty';
import { exitCodeOf, ignoredByDefault, type SignalName } from './signals';

/** An executable's code. Resolves with its exit code; everything else it does goes through the process. */
export type Program = (process: Process) => Promise<number>;

export interface User {
  uid: number;
  gid: number;
  groups: readonly number[];
}

/** What all processes of one container share. */
export interface Machine {
  readonly fs: FileSystem;
  readonly net: NetNamespace;
  readonly clock: Clock;
  readonly random: Random;
  readonly hostname: string;
  readonly table: ProcessTable;
  /** What its root user may do. */
  readonly capabilities: ReadonlySet<Capability>;
  readonly memory: Memory;
  readonly cpu: Cpu;
  /** When the container started, for /proc/uptime. */
  readonly startedAt: number;
}

export interface ProcessOptions {
  argv: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  user: User;
  /** By descriptor number; the process takes them over. */
  files: ReadonlyMap<number, OpenFile>;
  parent?: Process;
  /** The terminal it was started on; children inherit it. */
  tty?: Tty;
  /** Started with `&`: the terminal's Ctrl-C doesn't reach it. */
  background?: boolean;
}

const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** The reason of a killed process's AbortSignal. */
class Killed extends Error {
  override readonly name = 'Killed';

  constructor(readonly signal: SignalName) {
    super(`killed by ${signal}`);
  }
}

/** Thrown by `Process.exit`: unwinds the program. */
export class Exit extends Error {
  override readonly name = 'Exit';

  constructor(readonly code: number) {
    super(`exit ${code}`);
  }
}

export class Process {
  /** In its own PID namespace; others' tables know it by other ids. */
  readonly pid: number;
  readonly parent: Process | undefined;
  argv: readonly string[];
  /** The name of what it executes, also when the program has changed its title (`argv`). */
  comm: string;
  env: Record<string, string>;
  cwd: string;
  readonly user: User;
  readonly files: Map<number, OpenFile>;
  readonly startedAt: number;
  readonly tty: Tty | undefined;
  readonly background: boolean;
  exitCode: number | undefined;
  /** The signal that ended it. */
  endedBy: SignalName | undefined;
  /** Bits that files it makes don't get. */
  umask: number;
  /** Resolves with the exit code once the process has ended and its files are closed. */
  readonly exited: Promise<number>;
  private readonly handlers = new Map<SignalName, () => void>();
  private readonly controller = new AbortController();
  private ownFiles: FileSystem | undefined;
  private settle: (code: number) => void = () => undefined;

  constructor(
    readonly machine: Machine,
    options: ProcessOptions,
  ) {
    this.pid = machine.table.add(this);
    this.parent = options.parent;
    this.argv = options.argv;
    this.comm = baseName(options.argv[0] ?? '');
    this.umask = options.parent?.umask ?? 0o022;
    this.env = { ...options.env };
    this.cwd = options.cwd;
    this.user = options.user;
    this.files = new Map(options.files);
    this.startedAt = machine.clock.now();
    this.tty = options.tty ?? options.parent?.tty;
    this.background = options.background ?? options.parent?.background ?? false;
    this.exited = new Promise((resolve) => {
      this.settle = resolve;
    });
  }

  /** Aborted when the process was killed: its reason is Killed. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  get ppid(): number {
    return this.parent?.pid ?? 0;
  }

  /** The container's files, with this process's rights. */
  get fs(): FileSystem {
    return (this.ownFiles ??= this.machine.fs.forUser(this.user));
  }

  get net(): NetNamespace {
    return this.machine.net;
  }

  get clock(): Clock {
    return this.machine.clock;
  }

  get stdin(): OpenFile {
    return this.file(0);
  }

  get stdout(): OpenFile {
    return this.file(1);
  }

  get stderr(): OpenFile {
    return this.file(2);
  }

  /** Only root has the container's capabilities. */
  can(capability: Capability): boolean {
    return this.user.uid === 0 && this.machine.capabilities.has(capability);
  }

  /** As execve(2) does: other arguments, and the name that goes with them. */
  become(argv: readonly string[]): void {
    this.argv = argv;
    this.comm = baseName(argv[0] ?? '');
  }

  file(descriptor: number): OpenFile {
    return this.files.get(descriptor) ?? closedFile;
  }

  async print(text: string | Buffer): Promise<void> {
    await this.stdout.write(text);
  }

  async complain(text: string): Promise<void> {
    await this.stderr.write(text);
  }

  sleep(ms: number): Promise<void> {
    return this.clock.sleep(ms, this.signal);
  }

  /** The program wants to know instead of being ended. SIGKILL can't be caught. */
  onSignal(signal: SignalName, handler: () => void): void {
    if (signal !== 'SIGKILL' && signal !== 'SIGSTOP') this.handlers.set(signal, handler);
  }

  resetSignal(signal: SignalName): void {
    this.handlers.delete(signal);
  }

  /** Resolves when one of these signals arrives, or rejects when the process is killed by another. */
  untilSignal(...signals: readonly SignalName[]): Promise<SignalName> {
    const arrived = new Promise<SignalName>((resolve, reject) => {
      for (const signal of signals) this.onSignal(signal, () => resolve(signal));
      const abort = () => reject(this.signal.reason as Error);
      if (this.signal.aborted) abort();
      else this.signal.addEventListener('abort', abort, { once: true });
    });
    // A program may end before it waits for them; that must not end the node.
    arrived.catch(() => undefined);
    return arrived;
  }

  /** As kill(2): PID 1 of a container ignores what it has no handler for, except SIGKILL from outside. */
  kill(signal: SignalName): void {
    if (this.exitCode !== undefined) return;
    const handler = this.handlers.get(signal);
    if (handler) return handler();
    if (ignoredByDefault.has(signal) || signal === 'SIGSTOP' || signal === 'SIGTSTP') return;
    if (this.pid === 1 && signal !== 'SIGKILL' && signal !== 'SIGPIPE') return;
    this.controller.abort(new Killed(signal));
  }

  /** Ends the process at the next point where the program waits. */
  exit(code: number): never {
    throw new Exit(code & 255);
  }

  /** Runs a program to its end in this process. Its return value is the process's exit code. */
  async run(program: Program): Promise<number> {
    this.finish(await this.codeOf(program));
    return this.exitCode ?? 0;
  }

  /** A child of this process; files are inherited unless given. Its program is run by the caller. */
  fork(
    changes: Partial<Pick<ProcessOptions, 'argv' | 'env' | 'cwd' | 'files' | 'background' | 'user'>> = {},
  ): Process {
    const inherited = changes.files ?? this.files;
    return new Process(this.machine, {
      argv: changes.argv ?? this.argv,
      env: changes.env ?? this.env,
      cwd: changes.cwd ?? this.cwd,
      user: changes.user ?? this.user,
      background: changes.background,
      files: new Map([...inherited].map(([fd, file]) => [fd, file.retain()])),
      parent: this,
    });
  }

  private async codeOf(program: Program): Promise<number> {
    try {
      const code = await Promise.race([program(this), this.death()]);
      return code & 255;
    } catch (error) {
      if (error instanceof Exit) return error.code;
      if (error instanceof Killed) {
        this.endedBy = error.signal;
        return exitCodeOf(error.signal);
      }
      if (error instanceof BrokenPipe) return exitCodeOf('SIGPIPE');
      return this.crashed(error);
    }
  }

  /** A program that doesn't look at its signal ends all the same, as a process does. */
  private death(): Promise<never> {
    return new Promise((_, reject) => {
      this.signal.addEventListener('abort', () => reject(this.signal.reason as Error), { once: true });
    });
  }

  private async crashed(error: unknown): Promise<number> {
    const name = this.comm;
    const message = error instanceof Error ? error.message : String(error);
    try {
      await this.complain(`${name}: ${message}\n`);
    } catch (failure) {
      if (!(failure instanceof Error)) throw failure;
    }
    return 1;
  }

  private finish(code: number): void {
    this.exitCode = code;
    for (const file of this.files.values()) file.release();
    this.files.clear();
    this.machine.table.remove(this);
    this.machine.memory.release(this);
    this.machine.cpu.release(this);
    if (!this.signal.aborted) this.controller.abort(new Killed('SIGKILL'));
    this.settle(code);
  }
}

const closedFile = new OpenFile(nullFile);
