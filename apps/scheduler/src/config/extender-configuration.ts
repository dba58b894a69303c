import { parseDuration } from '@tinkernetes/component-base';
import type { RawExtender } from './raw';
import type { ExtenderConfiguration, ProfileConfiguration } from './types';

const defaultTimeoutMs = 5000;

export function extenderOf(raw: RawExtender): ExtenderConfiguration {
  const { urlPrefix = '', filterVerb = '', preemptVerb = '', prioritizeVerb = '', bindVerb = '' } = raw;
  const { tlsConfig, enableHTTPS = false } = raw;
  return {
    urlPrefix,
    filterVerb,
    preemptVerb,
    prioritizeVerb,
    bindVerb,
    weight: raw.weight ?? 0,
    timeoutMs: timeoutOf(raw.httpTimeout),
    nodeCacheCapable: raw.nodeCacheCapable ?? false,
    managedResources: raw.managedResources ?? [],
    ignorable: raw.ignorable ?? false,
    // Asked for HTTPS without an authority to check against, upstream trusts every certificate.
    tls:
      enableHTTPS && !tlsConfig?.caFile && !tlsConfig?.caData ? { ...tlsConfig, insecure: true } : tlsConfig,
  };
}

/** Policy files have nanoseconds, as Go's JSON has durations. */
function timeoutOf(value: string | number | undefined): number {
  const ms = typeof value === 'number' ? value / 1e6 : parseDuration(value ?? '');
  return ms || defaultTimeoutMs;
}

/** Resources that an extender looks after alone are left out of NodeResourcesFit. */
export function leaveToExtenders(
  profiles: readonly ProfileConfiguration[],
  extenders: readonly ExtenderConfiguration[],
): ProfileConfiguration[] {
  const ignoredResources = extenders.flatMap(({ managedResources }) =>
    managedResources.filter(({ ignoredByScheduler }) => ignoredByScheduler).map(({ name }) => name),
  );
  if (ignoredResources.length === 0) return [...profiles];
  return profiles.map((profile) => {
    const args = { ...profile.pluginConfig.get('NodeResourcesFit'), ignoredResources };
    return { ...profile, pluginConfig: new Map([...profile.pluginConfig, ['NodeResourcesFit', args]]) };
  });
}
