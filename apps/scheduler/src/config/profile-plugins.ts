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
    if (!factory) throw new UsageError(`profile ${profile.schedulerName}: there is no plugin "${name}"`);
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
      const plugin = make(name);
      if (plugin[methodOf[point]] === undefined)
        throw new UsageError(
          `profile ${profile.schedulerName}: plugin "${name}" does not implement ${point}`,
        );
      return { plugin, weight };
    });
  };
  const points = Object.keys(methodOf) as ExtensionPoint[];
  const plugins = Object.fromEntries(points.map((point) => [point, pluginsAt(point)])) as Record<
    ExtensionPoint,
    ProfilePlugin[]
  >;
  if (plugins.queueSort.length !== 1)
    throw new UsageError(`profile ${profile.schedulerName}: exactly one queueSort plugin is needed`);
  if (plugins.bind.length === 0)
    throw new UsageError(`profile ${profile.schedulerName}: at least one bind plugin is needed`);
  return plugins;
}

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
