import type { Client } from '@tinkernetes/client';
import type { Clock, Logger, Metrics, Random, StepTracer } from '@tinkernetes/component-base';
import type { CaughtUp, CaughtUpWithServer, EventRecorder } from '@tinkernetes/controller';
import type { SharedInformerFactory } from '@tinkernetes/informers';
import type { WorkQueueFactory } from '@tinkernetes/workqueue';
import type { ControllerManagerFlags } from '../options';

/** What a controller is given to do its work with. */
export interface ControllerContext {
  /** One cache per resource, shared by all controllers. */
  readonly informers: SharedInformerFactory;
  /** Caches of this controller's own, for what only it watches and only for a time. They end with the signal. */
  ownInformers(signal: AbortSignal): SharedInformerFactory;
  /** Waits until the caches that this controller asked for show what a key's last run wrote. */
  readonly caughtUp: CaughtUp;
  /** The same for a key that another replica's worker died over. */
  readonly caughtUpWithServer: CaughtUpWithServer;
  /** Writes under the controller's own identity. */
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly queues: WorkQueueFactory;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracer: StepTracer;
  /** Aborted when the manager stops or loses its leadership. */
  readonly signal: AbortSignal;
  readonly flags: ControllerManagerFlags;
}

/** A controller that has registered what it watches. `run` is called once all caches are filled; ends with the signal. */
export interface RunnableController {
  run(): Promise<void>;
}

/** One row of the list in controllers.ts. */
export interface ControllerDefinition {
  /** Upstream's name, as in `--controllers`. */
  readonly name: string;
  /** The ServiceAccount in kube-system whose rights it has. Default: the name. */
  readonly serviceAccount?: string;
  /** Its events' source, where upstream's is not the name. */
  readonly eventSource?: string;
  /** With `--use-service-account-credentials`, too, it acts as the manager itself: it makes other accounts' tokens. */
  readonly actsAsManager?: boolean;
  readonly watches: readonly string[];
  readonly writes: readonly string[];
  /**
   * Where replicas share their keys (`--work-queue=bullmq`), this one still runs on the leader only: it decides by what
   * it has in memory (when a node was last heard of, which addresses are given out).
   */
  readonly leaderOnly?: boolean;
  /** Upstream has it off unless named. */
  readonly disabledByDefault?: boolean;
  /** Why it is not implemented; the manager says so when it is asked for by name. */
  readonly absent?: string;
  readonly start?: (context: ControllerContext) => RunnableController;
}
