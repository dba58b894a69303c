/** The configuration file as its schema has it. Source: k8s.io/kube-scheduler/config/v1. */
export interface RawConfiguration {
  apiVersion?: string;
  kind?: string;
  parallelism?: number;
  profiles?: RawProfile[];
  extenders?: RawExtender[];
  percentageOfNodesToScore?: number;
  podInitialBackoffSeconds?: number;
  podMaxBackoffSeconds?: number;
  leaderElection?: RawLeaderElection;
  clientConnection?: { kubeconfig?: string };
}
export interface RawLeaderElection {
  leaderElect?: boolean;
  leaseDuration?: string;
  renewDeadline?: string;
  retryPeriod?: string;
  resourceLock?: string;
  resourceName?: string;
  resourceNamespace?: string;
}
export interface RawPluginSet {
  enabled?: { name: string; weight?: number }[];
  disabled?: { name: string }[];
}
export interface RawProfile {
  schedulerName?: string;
  percentageOfNodesToScore?: number;
  plugins?: Record<string, RawPluginSet>;
  pluginConfig?: { name: string; args?: Record<string, unknown> }[];
}
export interface RawExtender {
  urlPrefix?: string;
  filterVerb?: string;
  preemptVerb?: string;
  prioritizeVerb?: string;
  bindVerb?: string;
  weight?: number;
  enableHTTPS?: boolean;
  tlsConfig?: RawExtenderTls;
  /** A duration (`5s`); in a policy file also a number of nanoseconds. */
  httpTimeout?: string | number;
  nodeCacheCapable?: boolean;
  managedResources?: { name: string; ignoredByScheduler?: boolean }[];
  ignorable?: boolean;
}
export interface RawExtenderTls {
  insecure?: boolean;
  serverName?: string;
  certFile?: string;
  keyFile?: string;
  caFile?: string;
  certData?: string;
  keyData?: string;
  caData?: string;
}

const pluginSets = [
  'preEnqueue',
  'queueSort',
  'preFilter',
  'filter',
  'postFilter',
  'preScore',
  'score',
  'reserve',
  'permit',
  'preBind',
  'bind',
  'postBind',
  'multiPoint',
];
const extenderFields = [
  'urlPrefix',
  'filterVerb',
  'preemptVerb',
  'prioritizeVerb',
  'bindVerb',
  'weight',
  'enableHTTPS',
  'tlsConfig',
  'httpTimeout',
  'nodeCacheCapable',
  'managedResources',
  'ignorable',
];
const fields = {
  '': [
    'apiVersion',
    'kind',
    'parallelism',
    'leaderElection',
    'clientConnection',
    'enableProfiling',
    'enableContentionProfiling',
    'percentageOfNodesToScore',
    'podInitialBackoffSeconds',
    'podMaxBackoffSeconds',
    'profiles',
    'extenders',
    'delayCacheUntilActive',
  ],
  leaderElection: [
    'leaderElect',
    'leaseDuration',
    'renewDeadline',
    'retryPeriod',
    'resourceLock',
    'resourceName',
    'resourceNamespace',
  ],
  clientConnection: ['kubeconfig', 'acceptContentTypes', 'contentType', 'qps', 'burst'],
  'profiles[]': ['schedulerName', 'percentageOfNodesToScore', 'plugins', 'pluginConfig'],
  'profiles[].plugins': pluginSets,
  'profiles[].pluginConfig[]': ['name', 'args'],
  'extenders[]': extenderFields,
} as const satisfies Record<string, readonly string[]>;

/** Arguments that plugins take, beside `apiVersion` and `kind`. */
const argumentFields: Readonly<Record<string, readonly string[]>> = {
  DefaultPreemption: ['minCandidateNodesPercentage', 'minCandidateNodesAbsolute'],
  DynamicResources: ['filterTimeout', 'bindingTimeout'],
  InterPodAffinity: ['hardPodAffinityWeight', 'ignorePreferredTermsOfExistingPods'],
  NodeAffinity: ['addedAffinity'],
  NodeResourcesBalancedAllocation: ['resources'],
  NodeResourcesFit: ['ignoredResources', 'ignoredResourceGroups', 'scoringStrategy'],
  PodTopologySpread: ['defaultConstraints', 'defaultingType'],
  VolumeBinding: ['bindTimeoutSeconds', 'shape'],
};

/** As `unknownFields`, for plugins' arguments. */
export function unknownArguments({ profiles = [] }: RawConfiguration): string[] {
  return profiles.flatMap(({ pluginConfig = [] }, i) =>
    pluginConfig.flatMap(({ name, args = {} }, j) => {
      const known = argumentFields[name];
      const unknown = Object.keys(args).filter(
        (field) => known && ![...known, 'apiVersion', 'kind'].includes(field),
      );
      return unknown.map(
        (field) =>
          `decoding .profiles[${i}].pluginConfig[${j}]: strict decoding error: decoding args for plugin ${name}: ` +
          `strict decoding error: unknown field "${field}"`,
      );
    }),
  );
}

/** Fields that the schema doesn't have, as strict decoding reports them: `unknown field "profiles[0].name"`. */
export function unknownFields(raw: object, at = '', kind = ''): string[] {
  const known = (fields as Record<string, readonly string[]>)[kind];
  return Object.entries(raw).flatMap(([name, value]: [string, unknown]) => {
    const [path, kindOfChild] = [at ? `${at}.${name}` : name, kind ? `${kind}.${name}` : name];
    if (known && !known.includes(name)) return [`unknown field "${path}"`];
    if (Array.isArray(value))
      return value.flatMap((item: unknown, i) =>
        isNested(item) ? unknownFields(item, `${path}[${i}]`, `${kindOfChild}[]`) : [],
      );
    return isNested(value) && kindOfChild in fields ? unknownFields(value, path, kindOfChild) : [];
  });
}

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null;
