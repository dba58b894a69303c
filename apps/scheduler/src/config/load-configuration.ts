import { readFile } from 'node:fs/promises';
import type { FieldError } from '@tinkernetes/apimachinery';
import { parseDuration, UsageError } from '@tinkernetes/component-base';
import { extenderOf, leaveToExtenders } from './extender-configuration';
import {
  unknownArguments,
  unknownFields,
  type RawConfiguration,
  type RawPluginSet,
  type RawProfile,
} from './raw';
import {
  defaultConfiguration,
  type PluginSet,
  type ProfileConfiguration,
  type SchedulerConfiguration,
} from './types';
import { validateConfiguration } from './validate';

/** What the file says beyond the scheduler proper; it wins over flags. */
export interface LoadedConfiguration {
  scheduler: SchedulerConfiguration;
  kubeconfig?: string;
  leaderElect?: boolean;
  leaseDurationMs?: number;
  renewDeadlineMs?: number;
  retryPeriodMs?: number;
  leaseName?: string;
  leaseNamespace?: string;
}

const supportedVersion = 'kubescheduler.config.k8s.io/v1';

/** Reads a KubeSchedulerConfiguration file. Throws UsageError, worded as upstream's, when it can't be used. */
export async function loadConfiguration(file: string): Promise<LoadedConfiguration> {
  const raw = await readYaml<RawConfiguration>('--config', file);
  if (raw.apiVersion !== supportedVersion || raw.kind !== 'KubeSchedulerConfiguration')
    throw new UsageError(`--config ${file}: must be ${supportedVersion} KubeSchedulerConfiguration`);
  const unknown = [...unknownFields(raw), ...unknownArguments(raw)];
  if (unknown.length > 0)
    throw new UsageError(`--config ${file}: strict decoding error: ${unknown.join(', ')}`);
  refuse(`--config ${file}`, validateConfiguration(raw));
  const { leaderElection = {} } = raw;
  return {
    scheduler: configurationOf(raw),
    kubeconfig: raw.clientConnection?.kubeconfig,
    leaderElect: leaderElection.leaderElect,
    leaseDurationMs: parseDuration(leaderElection.leaseDuration ?? ''),
    renewDeadlineMs: parseDuration(leaderElection.renewDeadline ?? ''),
    retryPeriodMs: parseDuration(leaderElection.retryPeriod ?? ''),
    leaseName: leaderElection.resourceName,
    leaseNamespace: leaderElection.resourceNamespace,
  };
}

/** YAML or JSON. An empty file counts as an empty object. */
export async function readYaml<T extends object>(flag: string, file: string): Promise<T> {
  const { parse } = await import('yaml');
  try {
    const parsed = (parse(await readFile(file, 'utf8')) ?? {}) as T;
    if (typeof parsed === 'object') return parsed;
  } catch (error) {
    throw new UsageError(`${flag} ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw new UsageError(`${flag} ${file}: holds no object`);
}

/** Several errors are put in brackets, as upstream's aggregates are. */
export function refuse(where: string, errors: readonly FieldError[]): void {
  if (errors.length === 0) return;
  const texts = errors.map(({ field, message }) => `${field}: ${message}`);
  throw new UsageError(`${where}: ${texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`}`);
}

function configurationOf(raw: RawConfiguration): SchedulerConfiguration {
  const profiles = raw.profiles?.length ? raw.profiles.map(profileOf) : defaultConfiguration.profiles;
  const extenders = (raw.extenders ?? []).map(extenderOf);
  const seconds = (value: number | undefined, fallback: number) =>
    value === undefined ? fallback : value * 1000;
  return {
    ...defaultConfiguration,
    profiles: leaveToExtenders(profiles, extenders),
    extenders,
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
