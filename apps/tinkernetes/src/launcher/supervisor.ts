import type { Clock } from '@tinkernetes/component-base';
import type { ComponentSpec } from '../cluster/component-specs';
import type { ComponentExit, Launcher, ReadyInfo, RunningComponent } from './types';

/** First restart after 200 ms, doubling to 10 s; a component that ran for 30 s starts afresh. */
const backOff = { initialMs: 200, maxMs: 10_000, resetAfterMs: 30_000 } as const;
const stopGraceMs = 8000;
/** A component's exit code for a command line that it can't take. */
const wrongUsage = 2;

/** Delay before the restart that follows `failures` failures in a row (from 1). */
export function restartDelay(failures: number): number {
  return Math.min(backOff.maxMs, backOff.initialMs * 2 ** (failures - 1));
}

export interface SupervisorOptions {
  launcher: Launcher;
  clock: Clock;
  /** One line for the user. */
  report(line: string): void;
  /** Called when a component that has never served says that it can't with this command line. */
  onRefused?(spec: ComponentSpec, exit: ComponentExit): void;
  /** Called each time a component serves, also after a restart. */
  onReady?(spec: ComponentSpec, info: ReadyInfo): void;
}

export interface ComponentStatus {
  instance: string;
  state: 'starting' | 'running' | 'restarting' | 'stopped';
  pid?: number;
  restarts: number;
  lastExit?: string;
  /** What it said when it began to serve; missing while it doesn't. */
  info?: ReadyInfo;
}

/** Keeps components running: one that dies is started again with back-off, and the user is told. */
export class Supervisor {
  private readonly supervised = new Map<string, Supervised>();

  constructor(private readonly options: SupervisorOptions) {}

  /**
   * Starts a component and keeps it. Resolves with what it says when it first serves. Rejects when it ends before
   * that and `required` is set (it is then not restarted); otherwise it is restarted until it serves.
   */
  start(spec: ComponentSpec, { required = false } = {}): Promise<ReadyInfo> {
    const entry = new Supervised(spec, this.options);
    this.supervised.set(spec.instance, entry);
    return entry.run(required);
  }

  status(): ComponentStatus[] {
    return [...this.supervised.values()].map((entry) => entry.status());
  }

  /** Stops the named apps' instances together, or all. No restart happens any more for them. */
  async stop(filter: (spec: ComponentSpec) => boolean = () => true): Promise<void> {
    const chosen = [...this.supervised.values()].filter((entry) => filter(entry.spec));
    await Promise.all(chosen.map((entry) => entry.stop()));
  }
}

class Supervised {
  private current: RunningComponent | undefined;
  private info: ReadyInfo | undefined;
  private state: ComponentStatus['state'] = 'starting';
  private restarts = 0;
  private failures = 0;
  private lastExit: string | undefined;
  private readonly stopping = new AbortController();

  constructor(
    readonly spec: ComponentSpec,
    private readonly options: SupervisorOptions,
  ) {}

  run(required: boolean): Promise<ReadyInfo> {
    return new Promise((resolve, reject) => {
      void this.loop(resolve, required ? reject : undefined);
    });
  }

  status(): ComponentStatus {
    const { spec, state, restarts, lastExit, info } = this;
    return { instance: spec.instance, state, pid: this.current?.pid, restarts, lastExit, info };
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.current?.stop(stopGraceMs);
    this.state = 'stopped';
  }

  private async loop(
    served: (info: ReadyInfo) => void,
    failed: ((error: Error) => void) | undefined,
  ): Promise<void> {
    let hasServed = false;
    while (!this.stopping.signal.aborted) {
      const startedAt = this.options.clock.monotonic();
      const component = this.launch();
      this.current = component;
      component.ready.then(
        (info) => {
          hasServed = true;
          this.state = 'running';
          this.info = info;
          this.options.onReady?.(this.spec, info);
          served(info);
        },
        (error: Error) => {
          if (!hasServed) failed?.(error);
        },
      );
      const exit = await component.exited;
      this.current = undefined;
      this.info = undefined;
      if (!hasServed && exit.exitCode === wrongUsage) this.options.onRefused?.(this.spec, exit);
      if (this.stopping.signal.aborted || (!hasServed && failed)) break;
      if (!(await this.pause(exit, this.options.clock.monotonic() - startedAt))) break;
      this.restarts++;
    }
    this.state = 'stopped';
  }

  /** What can't even be started (no process left, no memory) counts as one that ended at once. */
  private launch(): RunningComponent {
    try {
      return this.options.launcher.start(this.spec);
    } catch (error) {
      return notStarted(error as Error);
    }
  }

  /** Waits for the back-off. False: stopped meanwhile. */
  private async pause(exit: ComponentExit, ranMs: number): Promise<boolean> {
    this.failures = ranMs >= backOff.resetAfterMs ? 1 : this.failures + 1;
    const delay = restartDelay(this.failures);
    this.state = 'restarting';
    this.lastExit = exit.reason;
    this.options.report(`${this.spec.instance} ${exit.reason}; restarting in ${delay / 1000} s`);
    try {
      await this.options.clock.sleep(delay, this.stopping.signal);
      return true;
    } catch (error) {
      if (this.stopping.signal.aborted) return false;
      throw error;
    }
  }
}

function notStarted(error: Error): RunningComponent {
  return {
    pid: undefined,
    ready: Promise.reject(error),
    exited: Promise.resolve({ reason: `could not be started: ${error.message}`, exitCode: undefined }),
    stop: () => Promise.resolve(),
  };
}
