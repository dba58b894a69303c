import type { Clock, Timer } from '@tinkernetes/component-base';
import type { Status } from './status';

interface Waiting {
  /** Plugins that have not allowed it yet, with the timer of each. */
  pending: Map<string, Timer>;
  verdict: Promise<Status | undefined>;
  decide(status: Status | undefined): void;
}

/** Pods whose Permit plugins asked to wait before binding. */
export class WaitingPods {
  private readonly waiting = new Map<string, Waiting>();

  constructor(private readonly clock: Clock) {}

  add(uid: string, plugins: readonly { plugin: string; timeoutMs: number }[]): void {
    let decide: Waiting['decide'] = () => undefined;
    const verdict = new Promise<Status | undefined>((resolve) => (decide = resolve));
    const pending = new Map(
      plugins.map(({ plugin, timeoutMs }) => [
        plugin,
        this.clock.setTimeout(
          () => this.reject(uid, { reason: `timeout waiting for plugin ${plugin}`, plugin }),
          timeoutMs,
          { unref: true },
        ),
      ]),
    );
    this.waiting.set(uid, { pending, verdict, decide });
  }

  /** Undefined: nobody asked to wait. Resolves to undefined when all have allowed it. */
  wait(uid: string): Promise<Status | undefined> | undefined {
    return this.waiting.get(uid)?.verdict;
  }

  allow(uid: string, plugin: string): void {
    const waiting = this.waiting.get(uid);
    waiting?.pending.get(plugin)?.cancel();
    waiting?.pending.delete(plugin);
    if (waiting?.pending.size === 0) this.finish(uid, undefined);
  }

  /** False when the Pod doesn't wait. */
  reject(uid: string, { reason, plugin }: { reason: string; plugin: string }): boolean {
    if (!this.waiting.has(uid)) return false;
    this.finish(uid, { code: 'Unschedulable', reasons: [reason], plugin });
    return true;
  }

  private finish(uid: string, status: Status | undefined): void {
    const waiting = this.waiting.get(uid);
    this.waiting.delete(uid);
    for (const timer of waiting?.pending.values() ?? []) timer.cancel();
    waiting?.decide(status);
  }
}
