import type { MetricStatus } from '@tinkernetes/api';

/** The run is over: status and events say why. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
  constructor(
    message: string,
    readonly metrics: MetricStatus[] = [],
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}
