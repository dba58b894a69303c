import { UsageError } from '@tinkernetes/component-base';
import type { ExtensionPoint, ProfilePlugin, ProfilePlugins } from '../framework/framework';
import type { Handle, Plugin, PluginFactory } from '../framework/types';
import { pluginRegistry } from '../plugins/registry';
import type { PluginSet, ProfileConfiguration } from './types';

/** The method that makes a plugin take part in an extension point. */
const methodOf: Readonly<Record<ExtensionPoint, keyof Plugin>> = {
  preEnqueue: 'preEnqueue',
  queueSort: 'less',
  preFilter: 'preFilter',
  filter: 'filter',
  postFilter: 'postFilter',
  preScore: 'preScore',
  score: 'score',
  reserve: 'reserve',
  permit: 'permit',
  preBind: 'preBind',
  bind: 'bind',
  postBind: 'postBind',
};
const noPlugins: PluginSet = { enabled: [], disabled: [] };

interface Entry {
  name: string;
  weight: number;
}

/** Makes a profile's plugins: the defaults, changed by `multiPoint`, then by each extension point's own list. */
export function createProfilePlugins(
  profile: ProfileConfiguration,
  handle: Handle,
  registry: readonly { factory: PluginFactory; weight: number }[] = pluginRegistry,
): ProfilePlugins {
  const defaults = registry.map(({ factory, weight }) => ({ name: factory.name, weight: weight || 1 }));
  const byName = new Map(registry.map(({ factory }) => [factory.name, factory]));
  const made = new Map<string, Plugin>();
  const make = (name: string): Plugin => {
    const known = made.get(name);
    if (known) return known;
    const factory = byName.get(name);
    if (!factory) throw refused(profile, `plugin "${name}" does not exist`);
    const plugin = factory.create(profile.pluginConfig.get(name) ?? {}, handle);
    made.set(name, plugin);
    return plugin;
  };
  const weightOf = (name: string) => defaults.find((entry) => entry.name === name)?.weight ?? 1;
  const everywhere = applySet(defaults, profile.plugins.multiPoint ?? noPlugins, weightOf);
  const pluginsAt = (point: ExtensionPoint): ProfilePlugin[] => {
    const implementing = everywhere.filter(({ name }) => make(name)[methodOf[point]] !== undefined);
    const chosen = applySet(implementing, profile.plugins[point] ?? noPlugins, weightOf);
    return chosen.map(({ name, weight }) => {
      if (!byName.has(name)) throw refused(profile, `${upstreamName(point)} "${name}" does not exist`);
      const plugin = make(name);
      if (plugin[methodOf[point]] === undefined)
        throw refused(profile, `plugin "${name}" does not extend ${upstreamName(point)} plugin`);
      return { plugin, weight };
    });
  };
  const points = Object.keys(methodOf) as ExtensionPoint[];
  const plugins = Object.fromEntries(points.map((point) => [point, pluginsAt(point)])) as Record<
    ExtensionPoint,
    ProfilePlugin[]
  >;
  const forProfile = `for profile with scheduler name "${profile.schedulerName}"`;
  const sorting = plugins.queueSort.length;
  if (sorting !== 1)
    throw refused(profile, `only one queue sort plugin required ${forProfile}, but got ${sorting}`);
  if (plugins.bind.length === 0) throw refused(profile, `at least one bind plugin is needed ${forProfile}`);
  return plugins;
}

/** `filter` → `FilterPlugin` */
const upstreamName = (point: string): string => `${point.charAt(0).toUpperCase()}${point.slice(1)}Plugin`;

/** Worded as upstream's. */
const refused = ({ schedulerName }: ProfileConfiguration, reason: string): UsageError =>
  new UsageError(`initializing profiles: creating profile for scheduler name ${schedulerName}: ${reason}`);

/** An enabled plugin that is there already keeps its place and takes the new weight. */
function applySet(before: readonly Entry[], set: PluginSet, weightOf: (name: string) => number): Entry[] {
  const disabled = new Set(set.disabled.map(({ name }) => name));
  const kept = disabled.has('*') ? [] : before.filter(({ name }) => !disabled.has(name));
  const given = new Map(
    set.enabled.map(({ name, weight }) => [name, { name, weight: weight || weightOf(name) }]),
  );
  const replaced = kept.map((entry) => given.get(entry.name) ?? entry);
  const added = [...given.values()].filter(({ name }) => !kept.some((entry) => entry.name === name));
  return [...replaced, ...added];
}
