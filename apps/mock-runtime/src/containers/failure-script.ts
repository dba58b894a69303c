import { parseDuration, type Clock, type Timer } from '@tinkernetes/component-base';
import type { Process } from '../kernel/process';
import type { Container } from './container';

const prefix = 'mock.tinkernetes.dev/';

/**
 * What Pod annotations can script, `mock.tinkernetes.dev/<name>` for all containers of the Pod or
 * `mock.tinkernetes.dev/<container>.<name>` for one:
 *
 * | name | value | effect |
 * | --- | --- | --- |
 * | generic-image | true | an image that nobody defined is stood in for |
 * | pull-delay | duration | pulling takes that long |
 * | pull-error | text | pulling fails with this message |
 * | exit-after | duration | the container ends after that time (with exit-code, 0 if left out) |
 * | exit-code | number | the exit code, whatever the program returns |
 * | crash-times | number | ends at once with code 1 in its first N runs |
 * | oom-after | duration | killed after that time, reason OOMKilled, exit code 137 |
 * | log-line, log-interval | text, duration | writes the line again and again |
 * | cpu, memory | quantity | reported usage, as `kubectl top` shows it |
 */
export type AnnotationName =
  | 'generic-image'
  | 'pull-delay'
  | 'pull-error'
  | 'exit-after'
  | 'exit-code'
  | 'crash-times'
  | 'oom-after'
  | 'log-line'
  | 'log-interval'
  | 'cpu'
  | 'memory';

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
  begin(run: { container: Container; clock: Clock; main: Process; restarts: number }): void;
  end(): void;
}

const nothing: FailureScript = { exitCode: undefined, begin: () => undefined, end: () => undefined };

export function scriptedFailures(
  annotations: Readonly<Record<string, string>>,
  container: string,
): FailureScript {
  if (!Object.keys(annotations).some((key) => key.startsWith(prefix))) return nothing;
  const value = (name: AnnotationName) => scripted(annotations, container, name);
  const timers: Timer[] = [];
  let ended: number | undefined;
  const fixed = value('exit-code');
  return {
    get exitCode() {
      return ended ?? (fixed === undefined ? undefined : Number(fixed));
    },
    begin({ container: target, clock, main, restarts }) {
      const after = (text: string | undefined, action: () => void) => {
        const ms = text === undefined ? undefined : parseDuration(text);
        if (ms !== undefined) timers.push(clock.setTimeout(action, ms, { unref: true }));
      };
      const end = (code: number) => {
        ended = code;
        target.kill('SIGKILL');
      };
      if (restarts < Number(value('crash-times') ?? 0)) return after('0', () => end(1));
      after(value('exit-after'), () => end(Number(fixed ?? 0)));
      after(value('oom-after'), () => target.kill('SIGKILL', 'OOMKilled'));
      const line = value('log-line');
      const interval = parseDuration(value('log-interval') ?? '1s') ?? 1000;
      if (line !== undefined)
        timers.push(
          clock.setInterval(() => void main.print(`${line}\n`).catch(() => undefined), interval, {
            unref: true,
          }),
        );
    },
    end() {
      for (const timer of timers.splice(0)) timer.cancel();
    },
  };
}
