import type { Taint } from '@tinkernetes/api';
import { Quantity } from '@tinkernetes/apimachinery';
import { parseDuration, UsageError, type FlagSpec, type FlagValues } from '@tinkernetes/component-base';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { parseThreshold, type Threshold } from './eviction/thresholds';

export const flags = {
  address: { type: 'string', default: '0.0.0.0', help: 'The IP address for the kubelet to serve on' },
  'bootstrap-kubeconfig': {
    type: 'string',
    help: 'Kubeconfig used to ask for a client certificate when --kubeconfig does not exist yet',
  },
  'cert-dir': { type: 'string', help: 'Directory of the TLS certificates (default <root-dir>/pki)' },
  'client-ca-file': {
    type: 'string',
    help: 'Clients with a certificate of this authority are authenticated',
  },
  'cluster-dns': { type: 'list', help: 'IP addresses of the cluster DNS server' },
  'cluster-domain': { type: 'string', default: 'cluster.local', help: 'Domain of this cluster' },
  config: { type: 'string', help: 'File with a KubeletConfiguration; flags go before it' },
  'container-runtime-endpoint': {
    type: 'string',
    default: 'unix:///run/containerd/containerd.sock',
    help: 'The endpoint of the CRI runtime service',
  },
  'image-service-endpoint': {
    type: 'string',
    help: 'The endpoint of the CRI image service (default: the runtime’s)',
  },
  'hostname-override': { type: 'string', help: 'Use this as the node name instead of the host name' },
  kubeconfig: { type: 'string', help: 'How to reach the API server' },
  'eviction-hard': {
    type: 'list',
    default: ['memory.available<100Mi', 'nodefs.available<10%', 'nodefs.inodesFree<5%'],
    help: 'Pods are evicted when these thresholds are crossed',
  },
  'eviction-pressure-transition-period': {
    type: 'duration',
    default: 300_000,
    help: 'How long the node stays under pressure after its threshold was last crossed',
  },
  'image-gc-high-threshold': {
    type: 'number',
    default: 85,
    min: 0,
    max: 100,
    help: 'Percent of disk usage after which unused images are deleted; 100: never',
  },
  'image-gc-low-threshold': {
    type: 'number',
    default: 80,
    min: 0,
    max: 100,
    help: 'Percent of disk usage down to which unused images are deleted',
  },
  'minimum-image-ttl-duration': {
    type: 'duration',
    default: 120_000,
    help: 'Younger images are not deleted',
  },
  'max-pods': { type: 'number', default: 110, min: 1, help: 'Number of Pods that can run on this node' },
  'node-ip': { type: 'list', help: 'IP addresses of the node' },
  nodes: {
    type: 'number',
    default: 0,
    min: 0,
    max: 5000,
    help: 'Run this many light nodes NAME-0, NAME-1 … over the one runtime; 0: one ordinary node',
  },
  'node-labels': { type: 'list', help: 'key=value labels to add when registering the node' },
  'pod-manifest-path': { type: 'string', help: 'File or directory of static Pod manifests' },
  'manifest-url': { type: 'string', help: 'URL of static Pod manifests' },
  port: { type: 'number', default: 10250, min: 0, max: 65535, help: 'The port to serve on; 0: any free one' },
  'read-only-port': { type: 'number', default: 0, min: 0, max: 65535, help: 'Not offered; must be 0' },
  'register-node': { type: 'boolean', default: true, help: 'Register the node with the API server' },
  'register-with-taints': { type: 'list', help: 'key=value:effect taints to register the node with' },
  'resolv-conf': {
    type: 'string',
    default: '/etc/resolv.conf',
    help: 'Resolver configuration for Pods of DNS policy Default',
  },
  'root-dir': { type: 'string', default: '/var/lib/kubelet', help: 'Directory for kubelet files' },
  'runtime-request-timeout': {
    type: 'duration',
    default: 120_000,
    help: 'Timeout of runtime requests other than long ones',
  },
  'serialize-image-pulls': { type: 'boolean', default: true, help: 'Pull images one at a time' },
  'sync-frequency': { type: 'duration', default: 20_000, help: 'At most this long between looks at a Pod' },
  'node-status-update-frequency': {
    type: 'duration',
    default: 10_000,
    help: 'How often the node status is computed and the lease renewed',
  },
  'tls-cert-file': { type: 'string', help: 'Serving certificate (default: a self-signed one in --cert-dir)' },
  'tls-private-key-file': { type: 'string', help: 'Private key of --tls-cert-file' },
  'vnet-endpoint': {
    type: 'string',
    help: 'Socket of the node’s emulated network; left out: the host’s network',
  },
} as const satisfies Record<string, FlagSpec>;

export interface Options {
  nodeName: string;
  /** Light nodes of this process; 0: one ordinary node. */
  nodes: number;
  /** Tells a light node's sandboxes from those of others in the same runtime. */
  ownerLabel: string | undefined;
  /** Where in the interval of heartbeats this node's are, from 0 to below 1. */
  heartbeatPhase: number;
  nodeIPs: readonly string[];
  kubeconfig: string;
  bootstrapKubeconfig: string | undefined;
  /** Of the serving certificate. */
  certDir: string;
  clientCertDir: string;
  rootDir: string;
  podLogsDir: string;
  address: string;
  port: number;
  clientCAFile: string | undefined;
  tlsCertFile: string | undefined;
  tlsPrivateKeyFile: string | undefined;
  runtimeEndpoint: string;
  imageEndpoint: string;
  vnetEndpoint: string | undefined;
  clusterDNS: readonly string[];
  clusterDomain: string;
  resolvConf: string;
  maxPods: number;
  imageGCHigh: number;
  imageGCLow: number;
  imageMinimumGCAgeMs: number;
  evictionHard: readonly Threshold[];
  pressureTransitionMs: number;
  nodeLabels: Readonly<Record<string, string>>;
  taints: readonly Taint[];
  registerNode: boolean;
  serializeImagePulls: boolean;
  staticPodPath: string | undefined;
  staticPodURL: string | undefined;
  runtimeRequestTimeoutMs: number;
  syncFrequencyMs: number;
  nodeStatusUpdateMs: number;
  nodeStatusReportMs: number;
  leaseDurationSeconds: number;
  maxCrashBackOffMs: number;
  fileCheckMs: number;
  httpCheckMs: number;
  /** Bytes. */
  containerLogMaxSize: number;
  containerLogMaxFiles: number;
}

/** The fields of kubelet.config.k8s.io/v1beta1 KubeletConfiguration that this kubelet knows. */
export interface KubeletConfiguration {
  kind?: string;
  address?: string;
  port?: number;
  authentication?: { x509?: { clientCAFile?: string } };
  clusterDNS?: string[];
  clusterDomain?: string;
  containerLogMaxFiles?: number;
  containerLogMaxSize?: string;
  containerRuntimeEndpoint?: string;
  imageServiceEndpoint?: string;
  crashLoopBackOff?: { maxContainerRestartPeriod?: string };
  evictionHard?: Record<string, string>;
  evictionPressureTransitionPeriod?: string;
  fileCheckFrequency?: string;
  httpCheckFrequency?: string;
  imageGCHighThresholdPercent?: number;
  imageGCLowThresholdPercent?: number;
  imageMinimumGCAge?: string;
  maxPods?: number;
  nodeLeaseDurationSeconds?: number;
  nodeStatusReportFrequency?: string;
  nodeStatusUpdateFrequency?: string;
  podLogsDir?: string;
  registerNode?: boolean;
  registerWithTaints?: Taint[];
  resolvConf?: string;
  runtimeRequestTimeout?: string;
  serializeImagePulls?: boolean;
  staticPodPath?: string;
  staticPodURL?: string;
  syncFrequency?: string;
  tlsCertFile?: string;
  tlsPrivateKeyFile?: string;
}

export function toOptions(values: FlagValues<typeof flags>): Options {
  if (values['read-only-port'] !== 0)
    throw new UsageError('--read-only-port is not offered: only 0 is allowed');
  if (!values.kubeconfig && !values['bootstrap-kubeconfig']) {
    throw new UsageError('--kubeconfig is needed: where the API server is and who this node is');
  }
  const config = values.config ? readConfiguration(values.config) : {};
  const choose = choice(values, config);
  const rootDir = values['root-dir'];
  const certDir = values['cert-dir'] ?? join(rootDir, 'pki');
  const runtimeEndpoint = choose('container-runtime-endpoint', config.containerRuntimeEndpoint);
  return {
    nodeName: (values['hostname-override'] ?? hostname()).toLowerCase(),
    nodes: values.nodes,
    ownerLabel: undefined,
    heartbeatPhase: 0,
    nodeIPs: values['node-ip'].length > 0 ? values['node-ip'] : ['127.0.0.1'],
    kubeconfig: values.kubeconfig ?? join(rootDir, 'kubeconfig'),
    bootstrapKubeconfig: values['bootstrap-kubeconfig'],
    certDir,
    clientCertDir: certDir,
    rootDir,
    podLogsDir: config.podLogsDir ?? join(rootDir, 'log/pods'),
    address: choose('address', config.address),
    port: choose('port', config.port),
    clientCAFile: values['client-ca-file'] ?? config.authentication?.x509?.clientCAFile,
    tlsCertFile: values['tls-cert-file'] ?? config.tlsCertFile,
    tlsPrivateKeyFile: values['tls-private-key-file'] ?? config.tlsPrivateKeyFile,
    runtimeEndpoint,
    imageEndpoint: values['image-service-endpoint'] ?? config.imageServiceEndpoint ?? runtimeEndpoint,
    vnetEndpoint: values['vnet-endpoint'],
    clusterDNS: values['cluster-dns'].length > 0 ? values['cluster-dns'] : (config.clusterDNS ?? []),
    clusterDomain: choose('cluster-domain', config.clusterDomain),
    resolvConf: choose('resolv-conf', config.resolvConf),
    maxPods: choose('max-pods', config.maxPods),
    imageGCHigh: choose('image-gc-high-threshold', config.imageGCHighThresholdPercent),
    imageGCLow: choose('image-gc-low-threshold', config.imageGCLowThresholdPercent),
    imageMinimumGCAgeMs: choose(
      'minimum-image-ttl-duration',
      duration('imageMinimumGCAge', config.imageMinimumGCAge),
    ),
    evictionHard: choose('eviction-hard', statements(config.evictionHard)).map(parseThreshold),
    pressureTransitionMs: choose(
      'eviction-pressure-transition-period',
      duration('evictionPressureTransitionPeriod', config.evictionPressureTransitionPeriod),
    ),
    nodeLabels: Object.fromEntries(values['node-labels'].map(parseLabel)),
    taints:
      values['register-with-taints'].length > 0
        ? values['register-with-taints'].map(parseTaint)
        : (config.registerWithTaints ?? []),
    registerNode: choose('register-node', config.registerNode),
    serializeImagePulls: choose('serialize-image-pulls', config.serializeImagePulls),
    staticPodPath: values['pod-manifest-path'] ?? config.staticPodPath,
    staticPodURL: values['manifest-url'] ?? config.staticPodURL,
    runtimeRequestTimeoutMs: choose(
      'runtime-request-timeout',
      duration('runtimeRequestTimeout', config.runtimeRequestTimeout),
    ),
    syncFrequencyMs: choose('sync-frequency', duration('syncFrequency', config.syncFrequency)),
    nodeStatusUpdateMs: choose(
      'node-status-update-frequency',
      duration('nodeStatusUpdateFrequency', config.nodeStatusUpdateFrequency),
    ),
    nodeStatusReportMs: duration('nodeStatusReportFrequency', config.nodeStatusReportFrequency) ?? 300_000,
    leaseDurationSeconds: config.nodeLeaseDurationSeconds ?? 40,
    maxCrashBackOffMs:
      duration(
        'crashLoopBackOff.maxContainerRestartPeriod',
        config.crashLoopBackOff?.maxContainerRestartPeriod,
      ) ?? 300_000,
    fileCheckMs: duration('fileCheckFrequency', config.fileCheckFrequency) ?? 20_000,
    httpCheckMs: duration('httpCheckFrequency', config.httpCheckFrequency) ?? 20_000,
    containerLogMaxSize: Quantity.parse(config.containerLogMaxSize ?? '10Mi').value(),
    containerLogMaxFiles: config.containerLogMaxFiles ?? 5,
  };
}

/** A flag that differs from its default goes before the configuration file. */
function choice(values: FlagValues<typeof flags>, _config: KubeletConfiguration) {
  return <K extends keyof typeof flags>(
    name: K,
    configured: FlagValues<typeof flags>[K] | undefined,
  ): FlagValues<typeof flags>[K] => {
    const spec: FlagSpec = flags[name];
    return configured !== undefined && values[name] === spec.default ? configured : values[name];
  };
}

function readConfiguration(path: string): KubeletConfiguration {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(
      `--config ${path} can't be read: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
  const parse = text.trimStart().startsWith('{') ? (JSON.parse as (t: string) => unknown) : loadYaml();
  const value = parse(text) as KubeletConfiguration | null;
  if (value?.kind !== 'KubeletConfiguration')
    throw new UsageError(`--config ${path} holds no KubeletConfiguration`);
  return value;
}

/** Only where a YAML file is given, since the parser is not needed on the start path. */
function loadYaml(): (text: string) => unknown {
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  return (require('yaml') as typeof import('yaml')).parse;
}

const statements = (thresholds: Record<string, string> | undefined): string[] | undefined =>
  thresholds && Object.entries(thresholds).map(([signal, value]) => `${signal}<${value}`);

function duration(field: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms === undefined) throw new UsageError(`${field}: "${text}" is not a duration such as 10s or 1m30s`);
  return ms;
}

function parseLabel(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`invalid value "${text}" for --node-labels: must be key=value`);
  return [text.slice(0, at), text.slice(at + 1)];
}

function parseTaint(text: string): Taint {
  const match = /^([^=:]+)(?:=([^:]*))?:(NoSchedule|PreferNoSchedule|NoExecute)$/.exec(text);
  if (!match?.[1])
    throw new UsageError(`invalid value "${text}" for --register-with-taints: must be key=value:effect`);
  return { key: match[1], ...(match[2] ? { value: match[2] } : {}), effect: match[3] as Taint['effect'] };
}
