import type { LoopbackNetwork } from '@tinkernetes/component-base';
import type { ComponentSpec } from '../cluster/component-specs';

/** What a component said when it began to serve, e.g. `{ port: 6443 }`. */
export type ReadyInfo = Readonly<Record<string, unknown>>;

/** How a component ended by itself. */
export interface ComponentExit {
  /** One line: `exited with code 1: …`, `was killed by SIGKILL`. */
  reason: string;
  /** 2: it will never start with this command line. */
  exitCode: number | undefined;
}

/** One running component. */
export interface RunningComponent {
  readonly pid: number | undefined;
  /** Resolves when it serves; rejects when it ends before that. */
  readonly ready: Promise<ReadyInfo>;
  /** Resolves when it is gone, whoever ended it. Never rejects. */
  readonly exited: Promise<ComponentExit>;
  /** Asks it to stop, and makes it stop after `graceMs`. Resolves when it is gone. */
  stop(graceMs: number): Promise<void>;
}

/** Starts components, each in a process of its own or all in this one. */
export interface Launcher {
  /** Where what it starts runs in this very process. */
  readonly loopback?: LoopbackNetwork;
  start(spec: ComponentSpec): RunningComponent;
}
