import { resolve } from 'node:path';
import { createLogger, parseFlags, realClock, UsageError, type FlagSpec } from '@tinkernetes/component-base';
import { allSpecs, apiserverSpec, localSite, type ComponentSpec } from '../cluster/component-specs';
import { announceAlone, componentsAlone, requireFree } from '../cluster/components-alone';
import { askCluster } from '../cluster/control-socket';
import { ClusterLayout } from '../cluster/layout';
import { readState } from '../cluster/state';
import { createInProcessLauncher } from '../launcher/in-process-launcher';
import { toClusterOptions, upFlags } from '../options';
import type { Command } from './command';

const runFlags = { ...upFlags } as const satisfies Record<string, FlagSpec>;

/**
 * Runs one component of a cluster in this process, in the foreground, with the command line that the cluster would
 * give it: to be started under a debugger while the rest runs with `--without COMPONENT`.
 */
export const run: Command = {
  name: 'run',
  summary: 'Run one component alone, in the foreground, against the running cluster',
  args: 'COMPONENT',
  flags: runFlags,
  async run(argv) {
    const [name, ...rest] = argv;
    if (!name || name.startsWith('-'))
      throw new UsageError('run needs a component, e.g. `tinkernetes run scheduler`');
    const flags = parseFlags(runFlags, rest);
    const options = toClusterOptions(flags, () => resolve(flags['data-dir']));
    const layout = new ClusterLayout(options.dataDir);
    const state = await readState(layout);
    if (!state)
      throw new UsageError(`no cluster in ${options.dataDir} yet: start one with \`tinkernetes up\` first`);
    const context = { layout, site: localSite, options };
    const spec = findSpec(name, [apiserverSpec(context, state.apiPort), ...allSpecs(context, options)]);
    const report = await askCluster(layout, 'GET', '/status');
    requireFree(spec, [...(report?.components ?? []), ...(await componentsAlone(layout))]);
    process.stderr.write(`${spec.app} ${spec.argv.join(' ')}\n`);
    const logger = createLogger({ component: spec.instance, verbosity: options.verbosity });
    const component = createInProcessLauncher({ loggerOf: () => logger }).start(spec);
    const stop = () => void component.stop(0);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
    const startedAt = realClock.monotonic();
    let announced: Promise<(() => Promise<void>) | undefined> = Promise.resolve(undefined);
    component.ready.then(
      (info) => {
        const alone = { instance: spec.instance, pid: process.pid, info };
        announced = announceAlone(layout, alone).catch((error: unknown) => {
          logger.warn({ err: error }, '`tinkernetes status` does not know of this');
          return undefined;
        });
        const ms = Math.round(realClock.monotonic() - startedAt);
        process.stderr.write(`${spec.instance} serves after ${ms} ms\n`);
        if (typeof info.debugPort === 'number')
          process.stderr.write('`tinkernetes explain pod/NAME` asks this one\n');
      },
      () => undefined,
    );
    const exit = await component.exited;
    const forget = await announced;
    await forget?.();
    if (exit.exitCode !== 0) throw new Error(`${spec.instance} ${exit.reason}`);
  },
};

/** By instance (`kubelet-node-2`) or by app, where the first instance is meant. */
function findSpec(name: string, specs: readonly ComponentSpec[]): ComponentSpec {
  const spec = specs.find((s) => s.instance === name) ?? specs.find((s) => s.app === name);
  if (!spec)
    throw new UsageError(`no component ${name}. Components: ${specs.map((s) => s.instance).join(', ')}`);
  return spec;
}
