import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClientConfig } from '@tinkernetes/client';
import {
  createMetrics,
  createStepTracer,
  parseFlags,
  realClock,
  realRandom,
} from '@tinkernetes/component-base';
import { silentLogger } from '@tinkernetes/component-base/testing';
import { kubeconfigText } from '@tinkernetes/testing';
import { flags, toOptions } from '../options';
import { run } from '../run';

export interface RunningScheduler {
  /** What it told when it was ready. */
  info: Record<string, unknown>;
  stop(): Promise<void>;
}

/** The scheduler as its process runs it, in this one. */
export async function startScheduler(
  config: ClientConfig,
  more: readonly string[] = [],
): Promise<RunningScheduler> {
  const folder = mkdtempSync(join(tmpdir(), 'scheduler-'));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, kubeconfigText(config));
  const stopping = new AbortController();
  const options = toOptions(parseFlags(flags, [`--kubeconfig=${kubeconfig}`, ...more]));
  let running: Promise<void> = Promise.resolve();
  const info = await new Promise<Record<string, unknown>>((resolve, reject) => {
    running = run(options, {
      signal: stopping.signal,
      clock: realClock,
      random: realRandom,
      logger: silentLogger,
      metrics: createMetrics(),
      tracer: createStepTracer({ component: 'kube-scheduler' }),
      ready: (told = {}) => resolve(told),
    });
    running.catch(reject);
  });
  return {
    info,
    async stop() {
      stopping.abort(new Error('test is over'));
      await running;
      rmSync(folder, { recursive: true });
    },
  };
}
