import { parseDuration, type Clock, type Timer } from '@tinkernetes/component-base';
import type { Process } from '../kernel/process';
import type { Container } from './container';

const prefix = 'mock.tinkernetes.dev/';

/**
 * What Pod annotations can script, `mock.tinkernetes.dev/<name>` for all containers of the Pod or
 * `mock.tinkernetes.dev/<container>.<name>` for one. The README of this app has the table of their values and effects.
 */
export const annotationNames = [
  'generic-image',
  'pull-delay',
  'pull-error',
  'exit-after',
  'exit-code',
  'crash-times',
  'oom-after',
  'ready-for',
  'unready-for',
  'log-line',
  'log-interval',
  'cpu',
  'memory',
] as const;

export type AnnotationName = (typeof annotationNames)[number];

/** The value for one container: its own annotation, else the Pod's. */
export function scripted(
  annotations: Readonly<Record<string, string>>,
  container: string,
  name: AnnotationName,
): string | undefined {
  return annotations[`${prefix}${container}.${name}`] ?? annotations[`${prefix}${name}`];
}

export interface FailureScript {
  /** Instead of the program's own, when scripted. */
  readonly exitCode: number | undefined;
  begin(run: ScriptedRun): void;
  end(): void;
}

export interface ScriptedRun {
  container: Container;
  clock: Clock;
  main: Process;
  restarts: number;
}

const nothing: FailureScript = { exitCode: undefined, begin: () => undefined, end: () => undefined };

export function scriptedFailures(
  annotations: Readonly<Record<string, string>>,
  container: string,
): FailureScript {
  if (!Object.keys(annotations).some((key) => key.startsWith(prefix))) return nothing;
  return new AnnotatedScript((name) => scripted(annotations, container, name));
}

class AnnotatedScript implements FailureScript {
  private readonly timers = new Set<Timer>();
  private ended: number | undefined;

  constructor(private readonly value: (name: AnnotationName) => string | undefined) {}

  get exitCode(): number | undefined {
    const fixed = this.value('exit-code');
    return this.ended ?? (fixed === undefined ? undefined : Number(fixed));
  }

  begin({ container, clock, main, restarts }: ScriptedRun): void {
    const { value } = this;
    const end = (code: number) => {
      this.ended = code;
      container.kill('SIGKILL');
    };
    if (restarts < Number(value('crash-times') ?? 0)) return this.after(clock, 0, () => end(1));
    this.after(clock, durationOf(value('exit-after')), () => end(Number(value('exit-code') ?? 0)));
    this.after(clock, durationOf(value('oom-after')), () => container.kill('SIGKILL', 'OOMKilled'));
    this.flap(container, clock);
    this.repeatLine(clock, main);
  }

  end(): void {
    for (const timer of this.timers) timer.cancel();
    this.timers.clear();
  }

  private after(clock: Clock, ms: number | undefined, action: () => void): void {
    if (ms === undefined) return;
    const timer = clock.setTimeout(
      () => {
        this.timers.delete(timer);
        action();
      },
      ms,
      { unref: true },
    );
    this.timers.add(timer);
  }

  /** In turns: answers for `ready-for`, refuses for `unready-for`. One of them alone happens once. */
  private flap(container: Container, clock: Clock): void {
    const readyMs = durationOf(this.value('ready-for'));
    const unreadyMs = durationOf(this.value('unready-for'));
    const answer = () => {
      container.refuses(false);
      this.after(clock, readyMs, refuse);
    };
    const refuse = () => {
      container.refuses(true);
      this.after(clock, unreadyMs, answer);
    };
    if (readyMs !== undefined) answer();
    else if (unreadyMs !== undefined) refuse();
  }

  private repeatLine(clock: Clock, main: Process): void {
    const line = this.value('log-line');
    if (line === undefined) return;
    const ms = durationOf(this.value('log-interval')) ?? 1000;
    const write = () => void main.print(`${line}\n`).catch(() => undefined);
    this.timers.add(clock.setInterval(write, ms, { unref: true }));
  }
}

const durationOf = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : parseDuration(text);
