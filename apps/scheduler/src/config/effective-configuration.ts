import type { FlagValues } from '@tinkernetes/component-base';
import type { flags } from '../options';
import { loadConfiguration, type LoadedConfiguration } from './load-configuration';
import { loadPolicy } from './policy';
import { defaultConfiguration, type SchedulerConfiguration } from './types';

type Flags = FlagValues<typeof flags>;

/** What the files and flags say together. Throws UsageError. */
export async function effectiveConfiguration(values: Flags): Promise<LoadedConfiguration> {
  const loaded = await fromFile(values);
  const podMaxUnschedulableMs = values['pod-max-in-unschedulable-pods-duration'];
  return { ...loaded, scheduler: { ...loaded.scheduler, podMaxUnschedulableMs } };
}

async function fromFile({ config, 'policy-config-file': policy }: Flags): Promise<LoadedConfiguration> {
  if (config) return loadConfiguration(config);
  return { scheduler: policy ? await loadPolicy(policy) : defaultConfiguration };
}

/** The configuration as a file that `--config` takes. */
export async function configurationText({ scheduler, ...others }: LoadedConfiguration): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify({
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    ...(others.leaderElect === undefined ? {} : { leaderElection: { leaderElect: others.leaderElect } }),
    ...fieldsOf(scheduler),
  });
}

function fieldsOf(scheduler: SchedulerConfiguration): object {
  return {
    percentageOfNodesToScore: scheduler.percentageOfNodesToScore,
    podInitialBackoffSeconds: scheduler.podInitialBackoffMs / 1000,
    podMaxBackoffSeconds: scheduler.podMaxBackoffMs / 1000,
    profiles: scheduler.profiles.map(({ pluginConfig, ...profile }) => ({
      ...profile,
      pluginConfig: [...pluginConfig].map(([name, args]) => ({ name, args })),
    })),
    extenders: scheduler.extenders.map(({ timeoutMs, tls, ...extender }) => ({
      ...extender,
      httpTimeout: `${timeoutMs}ms`,
      tlsConfig: tls,
    })),
  };
}
