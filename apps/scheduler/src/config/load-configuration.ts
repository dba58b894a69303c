import { readFile } from 'node:fs/promises';
import { parseDuration, UsageError } from '@tinkernetes/component-base';
import {
  defaultConfiguration,
  type PluginSet,
  type ProfileConfiguration,
  type SchedulerConfiguration,
} from './types';

interface RawPluginSet {
  enabled?: { name: string; weight?: number }[];
  disabled?: { name: string }[];
}
interface RawProfile {
  schedulerName?: string;
  percentageOfNodesToScore?: number;
  plugins?: Record<string, RawPluginSet>;
  pluginConfig?: { name: string; args?: Record<string, unknown> }[];
}
interface RawConfiguration {
  apiVersion?: string;
  kind?: string;
  profiles?: RawProfile[];
  percentageOfNodesToScore?: number;
  podInitialBackoffSeconds?: number;
  podMaxBackoffSeconds?: number;
  leaderElection?: {
    leaderElect?: boolean;
    leaseDuration?: string;
    renewDeadline?: string;
    retryPeriod?: string;
  };
  clientConnection?: { kubeconfig?: string };
}

/** What the file says beyond the scheduler proper; flags win over it. */
export interface LoadedConfiguration {
  scheduler: SchedulerConfiguration;
  kubeconfig?: string;
  leaderElect?: boolean;
  leaseDurationMs?: number;
  renewDeadlineMs?: number;
  retryPeriodMs?: number;
}

const supportedVersion = 'kubescheduler.config.k8s.io/v1';

/** Reads a KubeSchedulerConfiguration file. Throws UsageError when it can't be used. */
export async function loadConfiguration(file: string): Promise<LoadedConfiguration> {
  const { parse } = await import('yaml');
  let raw: RawConfiguration;
  try {
    raw = (parse(await readFile(file, 'utf8')) ?? {}) as RawConfiguration;
  } catch (error) {
    throw new UsageError(`--config ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (raw.apiVersion !== supportedVersion || raw.kind !== 'KubeSchedulerConfiguration')
    throw new UsageError(`--config ${file}: must be ${supportedVersion} KubeSchedulerConfiguration`);
  const { leaderElection = {} } = raw;
  return {
    scheduler: configurationOf(raw),
    kubeconfig: raw.clientConnection?.kubeconfig,
    leaderElect: leaderElection.leaderElect,
    leaseDurationMs: parseDuration(leaderElection.leaseDuration ?? ''),
    renewDeadlineMs: parseDuration(leaderElection.renewDeadline ?? ''),
    retryPeriodMs: parseDuration(leaderElection.retryPeriod ?? ''),
  };
}

function configurationOf(raw: RawConfiguration): SchedulerConfiguration {
  const profiles = raw.profiles?.length ? raw.profiles.map(profileOf) : defaultConfiguration.profiles;
  const names = profiles.map(({ schedulerName }) => schedulerName);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new UsageError(`two profiles have the schedulerName "${twice}"`);
  const seconds = (value: number | undefined, fallback: number) =>
    value === undefined ? fallback : value * 1000;
  return {
    profiles,
    percentageOfNodesToScore: raw.percentageOfNodesToScore ?? 0,
    podInitialBackoffMs: seconds(raw.podInitialBackoffSeconds, defaultConfiguration.podInitialBackoffMs),
    podMaxBackoffMs: seconds(raw.podMaxBackoffSeconds, defaultConfiguration.podMaxBackoffMs),
  };
}

function profileOf(raw: RawProfile): ProfileConfiguration {
  const setOf = ({ enabled = [], disabled = [] }: RawPluginSet): PluginSet => ({ enabled, disabled });
  return {
    schedulerName: raw.schedulerName ?? 'default-scheduler',
    percentageOfNodesToScore: raw.percentageOfNodesToScore,
    plugins: Object.fromEntries(Object.entries(raw.plugins ?? {}).map(([point, set]) => [point, setOf(set)])),
    pluginConfig: new Map((raw.pluginConfig ?? []).map(({ name, args = {} }) => [name, args])),
  };
}
