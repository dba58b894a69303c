import {
  createLogger,
  createMetrics,
  createStepTracer,
  LoopbackNetwork,
  parseFlags,
  commonFlags,
  realClock,
  realRandom,
  type Clock,
  type FlagSpec,
  type FlagValues,
  type Logger,
  type MainOptions,
  type Random,
} from '@tinkernetes/component-base';
import type { ComponentSpec } from '../cluster/component-specs';
import { ComponentFailedError } from './process-launcher';
import type { ComponentExit, Launcher, ReadyInfo, RunningComponent } from './types';

/** Any component, whatever its flags and options are. */
interface AnyComponent {
  flags: Record<string, FlagSpec>;
  start(
    argv: readonly string[],
    context: Parameters<MainOptions<Record<string, FlagSpec>, unknown>['run']>[1],
  ): Promise<void>;
}

function erase<S extends Record<string, FlagSpec>, O>(component: MainOptions<S, O>): AnyComponent {
  return {
    flags: component.flags,
    start: async (argv, context) => {
      const values = parseFlags({ ...component.flags, ...commonFlags }, argv);
      return component.run(await component.options(values as unknown as FlagValues<S>), context);
    },
  };
}

/** Loaded only when started, so that a component left out costs nothing. */
const components: Record<ComponentSpec['app'], () => Promise<AnyComponent>> = {
  apiserver: async () => erase((await import('@tinkernetes/apiserver')).component),
  'controller-manager': async () => erase((await import('@tinkernetes/controller-manager')).component),
  scheduler: async () => erase((await import('@tinkernetes/scheduler')).component),
  kubelet: async () => erase((await import('@tinkernetes/kubelet')).component),
  'mock-runtime': async () => erase((await import('@tinkernetes/mock-runtime')).component),
  'kube-proxy': async () => erase((await import('@tinkernetes/kube-proxy')).component),
  'cluster-dns': async () => erase((await import('@tinkernetes/cluster-dns')).component),
};

export interface InProcessOptions {
  clock?: Clock;
  random?: Random;
  /** Where the components find each other's servers. */
  loopback?: LoopbackNetwork;
  /** The logger of a component, by the name of its instance. Default: errors on stderr, with that name. */
  loggerOf?(instance: string): Logger;
}

/**
 * Runs components in this process. They share nothing but it: they still talk HTTP and gRPC to each other, with the same
 * certificates, but without encrypting what never leaves the process.
 */
export function createInProcessLauncher({
  clock = realClock,
  random = realRandom,
  loggerOf = (component) => createLogger({ component, level: 'error' }),
  loopback = new LoopbackNetwork(clock),
}: InProcessOptions = {}): Launcher {
  return {
    loopback,
    start(spec): RunningComponent {
      const controller = new AbortController();
      let ready: (info: ReadyInfo) => void = () => undefined;
      let fail: (error: Error) => void = () => undefined;
      const readyPromise = new Promise<ReadyInfo>((resolve, reject) => {
        ready = resolve;
        fail = reject;
      });
      readyPromise.catch(() => undefined);
      const exited = components[spec.app]()
        .then((component) =>
          component.start(spec.argv, {
            signal: controller.signal,
            clock,
            random,
            logger: loggerOf(spec.instance),
            metrics: createMetrics(),
            tracer: createStepTracer({ component: spec.app, clock, random }),
            loopback,
            ready: (info = {}) => ready(info),
          }),
        )
        .then(
          (): ComponentExit => ({ reason: 'stopped', exitCode: 0 }),
          (error: unknown): ComponentExit => ({
            reason: `failed: ${error instanceof Error ? error.message : String(error)}`,
            exitCode: 1,
          }),
        )
        .then((exit) => {
          fail(new ComponentFailedError(spec.instance, exit));
          return exit;
        });
      return {
        pid: undefined,
        ready: readyPromise,
        exited,
        async stop() {
          controller.abort(new Error('stopped'));
          await exited;
        },
      };
    },
  };
}
