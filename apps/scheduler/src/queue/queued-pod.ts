import type { Pod } from '@tinkernetes/api';

/** A Pod that waits to be scheduled, with what is known of its attempts. */
export interface QueuedPod {
  pod: Pod;
  /** When it entered the queue that it is in; epoch ms. */
  timestamp: number;
  readonly initialAttemptAt: number;
  attempts: number;
  /** Attempts in a row that ended in a refusal; the back-off follows from it. */
  refusals: number;
  /** The last attempt ended in an error rather than a refusal. */
  erred: boolean;
  /** Plugins that refused it in the last attempt. */
  unschedulablePlugins: ReadonlySet<string>;
  pendingPlugins: ReadonlySet<string>;
  /** The plugin whose PreEnqueue holds it back. */
  gatedBy: string | undefined;
}
