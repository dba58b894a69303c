import type { Client } from '@tinkernetes/client';
import type { RunContext } from '@tinkernetes/component-base';

/** Sends finished steps to the API server; the function returned sends what is left. */
export function flushSteps(
  client: Client,
  { tracer, logger }: Pick<RunContext, 'tracer' | 'logger'>,
): () => Promise<void> {
  tracer.exportTo(async (steps) => {
    await client.request({ method: 'POST', path: '/debug/tinkernetes/spans', body: steps });
  });
  return () => tracer.flush().catch((error: unknown) => logger.debug({ err: error }, 'spans were not sent'));
}
