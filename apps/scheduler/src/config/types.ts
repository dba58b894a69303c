/** `kubescheduler.config.k8s.io/v1 KubeSchedulerConfiguration`, as far as it is used. */
export interface SchedulerConfiguration {
  profiles: ProfileConfiguration[];
  /** 0: adaptive. */
  percentageOfNodesToScore: number;
  podInitialBackoffMs: number;
  podMaxBackoffMs: number;
}
export interface ProfileConfiguration {
  schedulerName: string;
  percentageOfNodesToScore?: number;
  /** By extension point (`multiPoint` for all). */
  plugins: Readonly<Record<string, PluginSet>>;
  /** By plugin name. */
  pluginConfig: ReadonlyMap<string, Record<string, unknown>>;
}
export interface PluginSet {
  enabled: readonly { name: string; weight?: number }[];
  /** `*`: all defaults. */
  disabled: readonly { name: string }[];
}

export const defaultConfiguration: SchedulerConfiguration = {
  profiles: [{ schedulerName: 'default-scheduler', plugins: {}, pluginConfig: new Map() }],
  percentageOfNodesToScore: 0,
  podInitialBackoffMs: 1000,
  podMaxBackoffMs: 10_000,
};
