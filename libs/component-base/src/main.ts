import { realClock } from './clock';
import { parseFlags, usage, UsageError, type FlagSpec, type FlagValues } from './flags';
import { createLogger, type Logger } from './logger';
import { createMetrics } from './prometheus';
import { realRandom } from './random';
import type { Run, RunContext } from './run-context';
import { createStepTracer } from './step-tracer';

export interface MainOptions<S extends Record<string, FlagSpec>, O> {
  /** Upstream's name: `kube-apiserver`, `kubelet`. */
  component: string;
  description: string;
  flags: S;
  /** Turns flags, and files that they name, into the component's options; UsageError where they contradict each other. */
  options(flags: FlagValues<S>): O | Promise<O>;
  run: Run<O>;
}

/** Flags that every component has. */
export const commonFlags = {
  v: {
    type: 'number',
    default: 0,
    min: 0,
    max: 10,
    help: 'Log verbosity, as klog: 0 decisions, 3 and more details',
  },
  help: { type: 'boolean', default: false, help: 'Show this text' },
} as const satisfies Record<string, FlagSpec>;

/**
 * A component's process: parses flags, runs it, stops it on SIGINT and SIGTERM. Tells a parent process over IPC
 * (`{ type: 'ready', info }`) when it serves. Exit codes: 0 stopped, 1 failed, 2 wrong usage.
 */
export async function runMain<S extends Record<string, FlagSpec>, O>(
  main: MainOptions<S, O>,
  argv = process.argv.slice(2),
): Promise<void> {
  const specs = { ...main.flags, ...commonFlags };
  let flags;
  try {
    flags = parseFlags(specs, argv);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    failed(main.component, error);
    if (process.connected) process.disconnect();
    return;
  }
  if (flags.help) {
    process.stdout.write(usage(main.component, main.description, specs));
    return;
  }
  const controller = new AbortController();
  const stop = () => controller.abort(new Error('stopped by signal'));
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  // A component outlives no launcher: without one nobody would stop it.
  if (process.connected) process.once('disconnect', stop);
  const logger = createLogger({ component: main.component, verbosity: flags.v as number });
  const context: RunContext = {
    signal: controller.signal,
    clock: realClock,
    random: realRandom,
    logger,
    metrics: createMetrics(),
    tracer: createStepTracer({
      component: main.component,
      otlpEndpoint: process.env.OTEL_EXPORTER_OTLP_ENDPOINT,
    }),
    ready: (info = {}) => process.send?.({ type: 'ready', info }),
  };
  try {
    const options = await main.options(flags as unknown as FlagValues<S>);
    if (!controller.signal.aborted) await main.run(options, context);
  } catch (error) {
    if (!controller.signal.aborted) failed(main.component, error, logger);
  } finally {
    if (process.connected) process.disconnect();
  }
}

/** What the user can put right is said to the user; the rest goes to the log with all there is. Who started this is told. */
function failed(component: string, error: unknown, logger?: Logger): void {
  const message = error instanceof Error ? error.message : String(error);
  process.exitCode = error instanceof UsageError ? 2 : 1;
  if (error instanceof UsageError) process.stderr.write(`${component}: ${message}\n`);
  else logger?.error({ err: error }, message);
  process.send?.({ type: 'failed', message, exitCode: process.exitCode });
}
