import { realClock, type Clock } from '../clock';
import { parseFlags, type FlagSpec } from '../flags';
import type { MainOptions } from '../main';
import { createMetrics } from '../prometheus';
import { realRandom } from '../random';
import { createStepTracer } from '../step-tracer';
import { silentLogger } from './silent-logger';

export interface StartedComponent {
  /** What it said when it was ready. */
  readonly info: Readonly<Record<string, unknown>>;
  /** Resolves when nothing of it is left running; rejects with its failure. */
  stop(): Promise<void>;
}

/** Starts a component in the test's process with a command line, as the launcher does. Resolves when it is ready. */
export async function startComponent<S extends Record<string, FlagSpec>, O>(
  component: MainOptions<S, O>,
  argv: readonly string[],
  { clock = realClock }: { clock?: Clock } = {},
): Promise<StartedComponent> {
  const stopping = new AbortController();
  const options = await component.options(parseFlags(component.flags, argv));
  let running: Promise<void> = Promise.resolve();
  const info = await new Promise<Record<string, unknown>>((resolve, reject) => {
    running = component.run(options, {
      signal: stopping.signal,
      clock,
      random: realRandom,
      logger: silentLogger,
      metrics: createMetrics(),
      tracer: createStepTracer({ component: component.component }),
      ready: (told = {}) => resolve(told),
    });
    running.then(() => reject(new Error(`${component.component} ended before it was ready`)), reject);
  });
  return {
    info,
    async stop() {
      stopping.abort(new Error('test is over'));
      await running;
    },
  };
}
