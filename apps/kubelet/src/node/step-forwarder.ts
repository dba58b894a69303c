import type { Client } from '@tinkernetes/client';
import type { Clock, FinishedStep, Logger, Timer } from '@tinkernetes/component-base';

/** The API server's endpoint for steps of traces. */
const spansPath = '/debug/tinkernetes/spans';
const batchMs = 200;

/** Sends steps to the API server: the kubelet's own, and the runtime's, which has no connection of its own. */
export class StepForwarder {
  private waiting: FinishedStep[] = [];
  private timer: Timer | undefined;

  private client: Client | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** From now on steps go over this connection. */
  use(client: Client): void {
    this.client = client;
  }

  async send(steps: readonly FinishedStep[]): Promise<void> {
    await this.client?.request({ method: 'POST', path: spansPath, body: steps });
  }

  /** Together with what else comes in the next moment. */
  forward(steps: readonly FinishedStep[]): void {
    this.waiting.push(...steps);
    this.timer ??= this.clock.setTimeout(() => void this.flush(), batchMs, { unref: true });
  }

  async flush(): Promise<void> {
    this.timer?.cancel();
    this.timer = undefined;
    const steps = this.waiting;
    this.waiting = [];
    if (steps.length === 0) return;
    try {
      await this.send(steps);
    } catch (error) {
      this.logger.debug({ err: error, steps: steps.length }, "the runtime's steps were not taken");
    }
  }
}
