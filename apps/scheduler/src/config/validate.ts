import {
  child,
  duplicate,
  index,
  invalid,
  isQualifiedName,
  required,
  type FieldError,
} from '@tinkernetes/apimachinery';
import { parseDuration } from '@tinkernetes/component-base';
import type { RawConfiguration, RawExtender, RawLeaderElection, RawPluginSet, RawProfile } from './raw';
import { argumentChecks } from './validate-arguments';

/** Plugins of earlier versions of the configuration. */
const removedPlugins = ['AzureDiskLimits', 'CinderLimits', 'EBSLimits', 'GCEPDLimits'];
const version = 'kubescheduler.config.k8s.io/v1';

/** What breaks a rule, worded as upstream's. Source: pkg/scheduler/apis/config/validation. */
export function validateConfiguration(raw: RawConfiguration): FieldError[] {
  const { parallelism = 16, podInitialBackoffSeconds = 1, podMaxBackoffSeconds = 10 } = raw;
  const profiles = raw.profiles ?? [];
  const errors = leaderElectionErrors(raw.leaderElection ?? {});
  if (parallelism <= 0)
    errors.push(invalid('parallelism', parallelism, 'should be an integer value greater than zero'));
  profiles.forEach((profile, i) => errors.push(...profileErrors(profiles, profile, i)));
  errors.push(...queueSortErrors(profiles));
  errors.push(...percentageErrors('percentageOfNodesToScore', raw.percentageOfNodesToScore));
  if (podInitialBackoffSeconds <= 0)
    errors.push(invalid('podInitialBackoffSeconds', podInitialBackoffSeconds, 'must be greater than 0'));
  if (podMaxBackoffSeconds < podInitialBackoffSeconds)
    errors.push(
      invalid(
        'podMaxBackoffSeconds',
        podMaxBackoffSeconds,
        'must be greater than or equal to PodInitialBackoffSeconds',
      ),
    );
  return [...errors, ...extenderErrors('extenders', raw.extenders ?? [])];
}

function leaderElectionErrors(given: RawLeaderElection): FieldError[] {
  if (given.leaderElect === false) return [];
  const times = { leaseDuration: '15s', renewDeadline: '10s', retryPeriod: '2s', ...given };
  const errors: FieldError[] = [];
  for (const name of ['leaseDuration', 'renewDeadline', 'retryPeriod'] as const) {
    if ((parseDuration(times[name]) ?? 0) <= 0)
      errors.push(invalid(child('leaderElection', name), times[name], 'must be greater than zero'));
  }
  if ((parseDuration(times.leaseDuration) ?? 0) <= (parseDuration(times.renewDeadline) ?? 0))
    errors.push(
      invalid('leaderElection.leaseDuration', times.renewDeadline, 'must be greater than `RenewDeadline`'),
    );
  const { resourceLock = 'leases', resourceName, resourceNamespace } = given;
  if (resourceLock !== 'leases')
    errors.push(invalid('leaderElection.resourceLock', resourceLock, 'resourceLock value must be "leases"'));
  if (resourceNamespace === '') errors.push(required('leaderElection.resourceNamespace'));
  if (resourceName === '') errors.push(required('leaderElection.resourceName'));
  return errors;
}

/** A single profile need not be named. */
const nameOf = ({ schedulerName }: RawProfile, count: number): string =>
  schedulerName ?? (count === 1 ? 'default-scheduler' : '');

function profileErrors(profiles: readonly RawProfile[], profile: RawProfile, i: number): FieldError[] {
  const path = index('profiles', i);
  const errors: FieldError[] = [];
  if (nameOf(profile, profiles.length) === '') errors.push(required(child(path, 'schedulerName')));
  errors.push(...percentageErrors(child(path, 'percentageOfNodesToScore'), profile.percentageOfNodesToScore));
  for (const [point, { enabled = [] }] of Object.entries(profile.plugins ?? {})) {
    enabled.forEach(({ name }, j) =>
      errors.push(...removedErrors(index(child(path, 'plugins', point, 'enabled'), j), name)),
    );
  }
  const seen = new Set<string>();
  profile.pluginConfig?.forEach(({ name, args = {} }, j) => {
    const at = index(child(path, 'pluginConfig'), j);
    if (seen.has(name)) errors.push(duplicate(at, name));
    seen.add(name);
    errors.push(...removedErrors(at, name), ...(argumentChecks[name]?.(child(at, 'args'), args) ?? []));
  });
  const [own, ...others] = [profile, ...profiles].map((each) => nameOf(each, profiles.length));
  const first = others.indexOf(own ?? '');
  if (first < i)
    errors.push(duplicate(child(path, 'schedulerName'), child(index('profiles', first), 'schedulerName')));
  return errors;
}

const removedErrors = (path: string, name: string): FieldError[] =>
  removedPlugins.includes(name)
    ? [
        invalid(
          path,
          name,
          `was invalid in version "${version}" (KubeSchedulerConfiguration is version "${version}")`,
        ),
      ]
    : [];

const percentageErrors = (path: string, value: number | undefined): FieldError[] =>
  value !== undefined && (value < 0 || value > 100)
    ? [invalid(path, value, 'not in valid range [0-100]')]
    : [];

/** All profiles share one queue. */
function queueSortErrors(profiles: readonly RawProfile[]): FieldError[] {
  const [first] = profiles;
  const sortOf = (profile: RawProfile | undefined): RawPluginSet => profile?.plugins?.queueSort ?? {};
  const errors: FieldError[] = [];
  const enabled = sortOf(first).enabled?.length ?? 0;
  if (enabled > 1)
    errors.push(
      invalid('profiles[0].plugins.queueSort.Enabled', enabled, 'only one queue sort plugin can be enabled'),
    );
  profiles.forEach((profile, i) => {
    if (JSON.stringify(sortOf(profile)) !== JSON.stringify(sortOf(first)))
      errors.push(
        invalid(
          child(index('profiles', i), 'plugins', 'queueSort'),
          internalForm(sortOf(profile)),
          'must be the same for all profiles',
        ),
      );
  });
  return errors;
}

/** As upstream prints a set. */
const internalForm = ({ enabled, disabled }: RawPluginSet) => {
  const entries = (list?: { name: string; weight?: number }[]) =>
    list?.map(({ name, weight = 0 }) => ({ Name: name, Weight: weight })) ?? null;
  return { Enabled: entries(enabled), Disabled: entries(disabled) };
};

/** Also used for the extenders of a policy file. */
export function extenderErrors(path: string, extenders: readonly RawExtender[]): FieldError[] {
  const errors: FieldError[] = [];
  const managed = new Set<string>();
  extenders.forEach(({ prioritizeVerb, weight = 0, managedResources = [] }, i) => {
    if (prioritizeVerb && weight <= 0)
      errors.push(
        invalid(child(index(path, i), 'weight'), weight, 'must have a positive weight applied to it'),
      );
    managedResources.forEach(({ name }, j) => {
      const at = child(index(child(index(path, i), 'managedResources'), j), 'name');
      errors.push(...resourceNameErrors(at, name));
      if (managed.has(name)) errors.push(invalid(at, name, 'duplicate extender managed resource name'));
      managed.add(name);
    });
  });
  const binders = extenders.filter(({ bindVerb }) => bindVerb).length;
  if (binders > 1)
    errors.push(
      invalid(path, `found ${binders} extenders implementing bind`, 'only one extender can implement bind'),
    );
  return errors;
}

function resourceNameErrors(path: string, name: string): FieldError[] {
  const malformed = isQualifiedName(name).map((detail) => invalid(path, name, detail));
  if (malformed.length > 0) return malformed;
  const isExtended = name.includes('/') && !name.includes('kubernetes.io/') && !name.startsWith('requests.');
  return isExtended ? [] : [invalid(path, name, 'is an invalid extended resource name')];
}
