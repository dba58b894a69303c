/** `kubescheduler.config.k8s.io/v1 KubeSchedulerConfiguration`, with defaults filled in. */
export interface SchedulerConfiguration {
  profiles: ProfileConfiguration[];
  extenders: ExtenderConfiguration[];
  /** 0: adaptive. */
  percentageOfNodesToScore: number;
  podInitialBackoffMs: number;
  podMaxBackoffMs: number;
  /** Set by flag. */
  podMaxUnschedulableMs: number;
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

/** A web service that takes part in decisions. An empty verb: it doesn't take part there. */
export interface ExtenderConfiguration {
  urlPrefix: string;
  filterVerb: string;
  preemptVerb: string;
  prioritizeVerb: string;
  bindVerb: string;
  weight: number;
  timeoutMs: number;
  /** It knows the nodes: names are enough. */
  nodeCacheCapable: boolean;
  /** It is asked only about Pods that want one of these. Empty: about all. */
  managedResources: readonly ManagedResource[];
  /** Pods are scheduled also when it doesn't answer. */
  ignorable: boolean;
  tls: ExtenderTls | undefined;
}
export interface ManagedResource {
  name: string;
  /** NodeResourcesFit leaves it to the extender. */
  ignoredByScheduler?: boolean;
}
/** Files are paths, data is PEM in base64. */
export interface ExtenderTls {
  insecure?: boolean;
  serverName?: string;
  certFile?: string;
  keyFile?: string;
  caFile?: string;
  certData?: string;
  keyData?: string;
  caData?: string;
}

export const defaultConfiguration: SchedulerConfiguration = {
  profiles: [{ schedulerName: 'default-scheduler', plugins: {}, pluginConfig: new Map() }],
  extenders: [],
  percentageOfNodesToScore: 0,
  podInitialBackoffMs: 1000,
  podMaxBackoffMs: 10_000,
  podMaxUnschedulableMs: 300_000,
};
