import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UsageError, type Clock } from '@tinkernetes/component-base';
import type { ComponentSpec } from '../cluster/component-specs';
import type { ClusterLayout } from '../cluster/layout';
import type { ComponentExit, Launcher, ReadyInfo, RunningComponent } from './types';

/**
 * V8 settings for small, mostly idle processes: a small young generation and no idle helper threads cost a busy
 * process little and save several megabytes in each of a dozen.
 */
const nodeFlags = [
  '--max-semi-space-size=4',
  '--v8-pool-size=1',
  '--enable-source-maps',
  ...lateOptimization(process.versions.node),
];

/**
 * Code has to run twice as long as by default before it is optimized: of what a young process's work cost, a third was
 * the compiler, for much that hardly ran after that. Any longer, and a busy process gains less by that than unoptimized
 * code costs it. Node 22 and 24 know no such flag, and refuse to start with it.
 */
function lateOptimization(nodeVersion: string): string[] {
  return nodeVersion.startsWith('20.') ? ['--interrupt-budget=135168'] : [];
}

/** The API server holds much that lives long: its heap is to grow by little more than half of that before it is collected. */
const apiserverFlags = ['--heap-growing-percent=60'];

/** glibc's allocator would keep free memory apart for each of a dozen threads. */
const childEnv = { MALLOC_ARENA_MAX: '2' };
/**
 * Once something large has been freed, as the bundle that was read, it would also keep as much as that was for what may
 * come: several megabytes in each process. The API server does read and write large lists, again and again.
 */
const smallEnv = { ...childEnv, MALLOC_TRIM_THRESHOLD_: '131072', MALLOC_MMAP_THRESHOLD_: '131072' };

type ChildMessage =
  { type: 'ready'; info: ReadyInfo } | { type: 'failed'; message: string; exitCode: number };

/** The script that runs a bundled app by name; it lies beside the bundles. */
function runnerPath(bundle = __filename): string {
  const runner = join(dirname(bundle), '..', 'run.cjs');
  if (!existsSync(runner))
    throw new UsageError('components as processes need the build: run `npm run build` first');
  return runner;
}

export interface ProcessLauncherOptions {
  layout: ClusterLayout;
  clock: Clock;
  /** Components' logs go to a file each (default), or to where the launcher's own output goes. */
  output?: 'files' | 'inherit';
}

export function createProcessLauncher({ layout, clock, output = 'files' }: ProcessLauncherOptions): Launcher {
  const runner = runnerPath();
  return {
    start(spec: ComponentSpec): RunningComponent {
      const log = output === 'files' ? openLog(layout, spec) : 2;
      // Detached: a Ctrl-C in the terminal reaches only the launcher, which stops components in order.
      const isServer = spec.app === 'apiserver';
      const flags = isServer ? [...nodeFlags, ...apiserverFlags] : nodeFlags;
      const child = spawn(process.execPath, [...flags, runner, spec.app, ...spec.argv], {
        env: { ...(isServer ? childEnv : smallEnv), ...process.env },
        stdio: ['ignore', log, log, 'ipc'],
        detached: true,
      });
      if (output === 'files') closeSync(log);
      let failure: { message: string; exitCode: number } | undefined;
      const exited = new Promise<ComponentExit>((resolve) => {
        child.once('error', (error) =>
          resolve({ reason: `could not be started: ${error.message}`, exitCode: undefined }),
        );
        child.once('exit', (code, signal) => {
          const how = signal ? `was killed by ${signal}` : `exited with code ${code}`;
          resolve({ reason: failure ? `${how}: ${failure.message}` : how, exitCode: code ?? undefined });
        });
      });
      const ready = new Promise<ReadyInfo>((resolve, reject) => {
        child.on('message', (message: ChildMessage) => {
          if (message.type === 'ready') resolve(message.info);
          else failure = message;
        });
        void exited.then((exit) => reject(new ComponentFailedError(spec.instance, exit)));
      });
      ready.catch(() => undefined);
      return {
        pid: child.pid,
        ready,
        exited,
        async stop(graceMs) {
          child.kill('SIGTERM');
          const timer = clock.setTimeout(() => child.kill('SIGKILL'), graceMs);
          await exited;
          timer.cancel();
        },
      };
    },
  };
}

function openLog(layout: ClusterLayout, spec: ComponentSpec): number {
  mkdirSync(dirname(layout.log(spec.instance)), { recursive: true });
  return openSync(layout.log(spec.instance), 'a');
}

/** A component ended before it served. */
export class ComponentFailedError extends Error {
  override readonly name = 'ComponentFailedError';
  constructor(
    readonly instance: string,
    readonly exit: ComponentExit,
  ) {
    super(`${instance} ${exit.reason}`);
  }
}
