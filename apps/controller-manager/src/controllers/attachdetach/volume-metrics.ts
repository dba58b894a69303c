import type { Metrics } from '@tinkernetes/component-base';

/** By node (or by state), then how many volumes of which driver. */
export type VolumeCounts = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** Counts drivers by what they are counted for. */
export function countVolumes(volumes: Iterable<readonly [group: string, driver: string]>): VolumeCounts {
  const counts = new Map<string, Map<string, number>>();
  for (const [group, driver] of volumes) {
    const drivers = counts.get(group) ?? new Map<string, number>();
    counts.set(group, drivers.set(driver, (drivers.get(driver) ?? 0) + 1));
  }
  return counts;
}

/** As upstream names the plugin of a CSI driver. */
const pluginOf = (driver: string): string => `kubernetes.io/csi:${driver}`;

/** Counted when they are asked for. Source: pkg/controller/volume/attachdetach/metrics. */
export function registerVolumeMetrics(
  metrics: Metrics,
  { inUse, byState }: { inUse(): VolumeCounts; byState(): VolumeCounts },
): void {
  const labelled = (counts: VolumeCounts, names: readonly [group: string, plugin: string]) =>
    [...counts].flatMap(([group, drivers]) =>
      [...drivers].map(
        ([driver, count]) => [{ [names[0]]: group, [names[1]]: pluginOf(driver) }, count] as const,
      ),
    );
  metrics
    .gauge('storage_count_attachable_volumes_in_use', 'Measure number of volumes in use', [
      'node',
      'volume_plugin',
    ])
    .collectEach(() => labelled(inUse(), ['node', 'volume_plugin']));
  metrics
    .gauge('attachdetach_controller_total_volumes', 'Number of volumes in A/D Controller', [
      'plugin_name',
      'state',
    ])
    .collectEach(() => labelled(byState(), ['state', 'plugin_name']));
}
