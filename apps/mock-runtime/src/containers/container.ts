import { posix } from 'node:path';
import type { Clock, Logger, Random } from '@tinkernetes/component-base';
import { CriError, type Signal } from '@tinkernetes/cri';
import type { FileSystem } from '../files/file-system';
import type { StoredImage } from '../images/image';
import { nullFile, OpenFile } from '../kernel/open-file';
import type { Pipe } from '../kernel/pipe';
import { Process, type Machine, type User } from '../kernel/process';
import { ProcessTable } from '../kernel/process-table';
import { signalNumbers, type SignalName } from '../kernel/signals';
import { ExecError, resolveProgram } from '../kernel/spawn';
import { Tty } from '../kernel/tty';
import type { NetNamespace } from '../network/net-namespace';
import { makeMachine } from './machine';
import type { Output } from './output';
import type { ContainerRecord, SandboxRecord } from './records';
import { ContainerStreams } from './streams';
import { homeOf, userOf } from './users';
import { scriptedFailures, type FailureScript } from './failure-script';
import { genericVariables } from '../images/generic-image';

export interface ContainerEnvironment {
  clock: Clock;
  random: Random;
  logger: Logger;
  net: NetNamespace;
  /** The host name in the node's own network. */
  nodeName: string;
  /** The PID namespace for its processes: its own, the Pod's, another container's, the node's. */
  table(): ProcessTable;
  sandbox: SandboxRecord;
  image: StoredImage;
  /** Of the node, by any name. */
  images(name: string): StoredImage | undefined;
  /** The record has changed: save it, tell who listens. */
  changed(container: Container): void;
}

export interface ExecOptions {
  argv: readonly string[];
  tty?: boolean;
  stdin?: OpenFile;
  stdout: OpenFile;
  stderr: OpenFile;
  /** With tty: what the terminal shows. */
  terminal?: Tty;
}

const startFailed =
  'failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: ';
const execFailed = (id: string): string =>
  `failed to exec in container: failed to start exec "${id}": OCI runtime exec failed: exec failed: unable to start container process: `;

/** containerd's exit code of a container that could not be started. */
const startErrorExitCode = 128;

/** One container: its record, and while it runs its file system, processes, output and log. */
export class Container {
  /** Made with the first start: a created container costs its record only. */
  private machine: Machine | undefined;
  private user: User | undefined;
  private main: Process | undefined;
  private streams: ContainerStreams | undefined;
  private readonly script: FailureScript;

  constructor(
    readonly record: ContainerRecord,
    private readonly environment: ContainerEnvironment,
  ) {
    this.script = scriptedFailures(
      environment.sandbox.config.annotations,
      record.config.metadata?.name ?? '',
    );
  }

  get running(): boolean {
    return this.record.state === 'CONTAINER_RUNNING';
  }

  /** Known once the container has been started. */
  get runsAs(): User | undefined {
    return this.user;
  }

  get image(): StoredImage {
    return this.environment.image;
  }

  get sandbox(): SandboxRecord {
    return this.environment.sandbox;
  }

  get fileSystem(): FileSystem | undefined {
    return this.machine?.fs;
  }

  /** Its own ones, also where it shares its PID namespace. */
  get processes(): readonly Process[] {
    const { machine } = this;
    return machine ? machine.table.list().filter((process) => process.machine === machine) : [];
  }

  /** Ports that are open in its network. */
  get openPorts(): number {
    const { net } = this.environment;
    return net.listeningPorts().length + net.receivingPorts().length;
  }

  /** The namespace of its processes, for a container that joins it. */
  get processTable(): ProcessTable | undefined {
    return this.machine?.table;
  }

  /** What its programs use, while it runs: bytes that they hold, CPU time since the start. */
  get usage(): { bytes: number; cpuMs: number } {
    const { machine } = this;
    return machine
      ? { bytes: machine.memory.usedBytes, cpuMs: machine.cpu.totalMs() }
      : { bytes: 0, cpuMs: 0 };
  }

  /** Throws what containerd answers when the command can't be executed; the container has then exited with 128. */
  async start(): Promise<void> {
    if (this.record.state !== 'CONTAINER_CREATED')
      throw new CriError(
        'UNKNOWN',
        `failed to set starting state for container "${this.record.id}": container is not in created state`,
      );
    const { clock } = this.environment;
    const argv = this.commandLine();
    const machine = (this.machine = makeMachine(this.record, this.environment, () =>
      this.kill('SIGKILL', 'OOMKilled'),
    ));
    const cwd = this.workingDirectory(machine.fs);
    const env = this.variables(machine.fs);
    let resolved;
    try {
      if (argv.length === 0) throw new ExecError('not found', 'no command specified');
      resolved = await resolveProgram(argv, { fs: machine.fs, cwd, path: env.PATH });
    } catch (error) {
      if (!(error instanceof ExecError)) throw error;
      const message = `${startFailed}${error.message}: unknown`;
      this.finished(startErrorExitCode, 'StartError', message);
      throw new CriError('UNKNOWN', message, { cause: error });
    }
    const { logger } = this.environment;
    const streams = (this.streams = new ContainerStreams(this.record, {
      clock,
      logger,
      table: machine.table,
    }));
    const main = new Process(machine, {
      argv: resolved.argv,
      env,
      cwd,
      user: this.userOf(machine.fs),
      files: streams.files(),
      tty: streams.terminal,
    });
    this.main = main;
    this.record.startedAt = nanos(clock);
    this.record.state = 'CONTAINER_RUNNING';
    this.environment.changed(this);
    const program = resolved.program;
    void main.run(program).then((code) => this.ended(code));
    this.script.begin({ container: this, clock, main, restarts: this.record.config.metadata?.attempt ?? 0 });
  }

  /** Signals the container, kills it after the grace period, and resolves when it has ended. */
  async stop(graceSeconds: number): Promise<void> {
    const main = this.main;
    if (!this.running || !main) return;
    const { clock } = this.environment;
    if (graceSeconds > 0) {
      main.kill(this.stopSignal());
      const waiting = new AbortController();
      await Promise.race([
        main.exited,
        clock.sleep(graceSeconds * 1000, waiting.signal).catch((error: unknown) => {
          if (!waiting.signal.aborted) throw error;
        }),
      ]);
      waiting.abort(new Error('ended'));
    }
    main.kill('SIGKILL');
    await main.exited;
    await this.settled;
  }

  /** Ends it at once, with a reason of its own (OOMKilled). */
  kill(signal: SignalName, reason?: string): void {
    if (reason !== undefined) this.killReason = reason;
    this.main?.kill(signal);
  }

  /** Scripted: new connections to its Pod are refused, commands of probes fail. */
  refuses(on: boolean): void {
    this.refusing = on;
    this.environment.net.refuse(this, on);
  }

  get isRefusing(): boolean {
    return this.refusing;
  }

  /** Starts a process beside the container's own. Rejects with what containerd answers. */
  async exec({ argv, stdin, stdout, stderr, terminal }: ExecOptions): Promise<Process> {
    const machine = this.machine;
    if (!this.running || !machine)
      throw new CriError(
        'UNKNOWN',
        `container is not running: container "${this.record.id}" is in ${this.record.state} state`,
      );
    const cwd = this.workingDirectory(machine.fs);
    const env: Record<string, string> = {
      ...this.variables(machine.fs),
      ...(terminal ? { TERM: 'xterm' } : {}),
    };
    let resolved;
    try {
      resolved = await resolveProgram(argv, { fs: machine.fs, cwd, path: env.PATH });
    } catch (error) {
      for (const file of [stdin, stdout, stderr]) file?.release();
      if (!(error instanceof ExecError)) throw error;
      const id = this.environment.random.hex(32);
      throw new CriError('UNKNOWN', `${execFailed(id)}${error.message}: unknown`, { cause: error });
    }
    const files = new Map([
      [0, stdin ?? new OpenFile(nullFile)],
      [1, stdout],
      [2, stderr],
    ]);
    const process = new Process(machine, {
      argv: resolved.argv,
      env,
      cwd,
      user: this.userOf(machine.fs),
      files,
      tty: terminal,
    });
    void process.run(resolved.program);
    return process;
  }

  newTerminal(output: (data: Buffer) => Promise<void> | void): Tty {
    return new Tty({ output, table: this.machine?.table ?? new ProcessTable() });
  }

  /** The container's own streams, for CRI Attach. */
  attachment(): {
    output: Output;
    stdin: Pipe | undefined;
    terminal: Tty | undefined;
    exited: Promise<number>;
  } {
    const { streams, main } = this;
    if (!this.running || !streams || !main)
      throw new CriError('UNKNOWN', `container is in ${this.record.state} state`);
    const { output, stdin, terminal } = streams;
    return { output, stdin, terminal, exited: main.exited };
  }

  /** After an attached client has gone: a container with stdinOnce sees the end of its input. */
  detached(): void {
    if (this.record.config.stdinOnce) this.streams?.endInput();
  }

  async reopenLog(): Promise<void> {
    if (!this.running) throw new CriError('UNKNOWN', 'container is not running');
    await this.streams?.log?.reopen();
  }

  /** Resolves once the end of the container is recorded and its log complete. */
  settled: Promise<void> = Promise.resolve();
  private killReason: string | undefined;
  private refusing = false;

  private ended(code: number): void {
    this.settled = this.settle(code);
  }

  private async settle(code: number): Promise<void> {
    this.streams?.endInput();
    this.script.end();
    this.refuses(false);
    // Where the PID namespace is shared, its first process is not this container's.
    for (const process of this.processes) process.kill('SIGKILL');
    await this.streams?.log?.close();
    this.main = undefined;
    const exit = this.script.exitCode ?? code;
    this.finished(exit, this.killReason ?? (exit === 0 ? 'Completed' : 'Error'), '');
    this.machine = undefined;
    this.streams = undefined;
  }

  private finished(exitCode: number, reason: string, message: string): void {
    const { record } = this;
    record.state = 'CONTAINER_EXITED';
    record.finishedAt = nanos(this.environment.clock);
    if (record.startedAt === 0) record.startedAt = record.finishedAt;
    record.exitCode = exitCode;
    record.reason = reason;
    record.message = message;
    this.environment.changed(this);
  }

  private commandLine(): readonly string[] {
    const { command, args } = this.record.config;
    const { entrypoint = [], cmd = [] } = this.image.definition.config;
    if (command.length > 0) return [...command, ...args];
    return [...entrypoint, ...(args.length > 0 ? args : cmd)];
  }

  private userOf(fs: FileSystem): User {
    return (this.user ??= userOf(this.record.config, this.image.definition.config.user, fs));
  }

  private workingDirectory(fs: FileSystem): string {
    const cwd = this.record.config.workingDir || this.image.definition.config.workingDir || '/';
    // runc makes a working directory that the image doesn't have.
    if (!fs.exists(cwd)) fs.makeDirectories(posix.normalize(cwd));
    return cwd;
  }

  private variables(fs: FileSystem): Record<string, string> {
    const own = this.record.config.envs.map(({ key, value }): [string, string] => [
      key,
      Buffer.from(value).toString(),
    ]);
    return {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      HOSTNAME: this.machine?.hostname ?? '',
      HOME: homeOf(this.userOf(fs), fs),
      ...(this.record.config.tty ? { TERM: 'xterm' } : {}),
      ...this.image.definition.config.env,
      ...genericVariables(this.image, this.record.config.annotations),
      ...Object.fromEntries(own),
    };
  }

  private stopSignal(): SignalName {
    const wanted: Signal = this.record.config.stopSignal;
    if (wanted in signalNumbers) return wanted as SignalName;
    return this.image.definition.config.stopSignal ?? 'SIGTERM';
  }
}

export const nanos = (clock: Clock): number => Math.round(clock.now() * 1e6);
