import type { Taint } from '@tinkernetes/api';
import { Quantity } from '@tinkernetes/apimachinery';
import { UsageError, type FlagSpec, type FlagValues } from '@tinkernetes/component-base';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { parseThresholds, type Threshold } from './eviction/thresholds';
import { flags } from './flags';
import { duration, readConfiguration } from './kubelet-configuration';
import { parseReserved, type Reserved } from './node/reserved';
import { parseAllowedSysctls } from './pods/sysctls';
import { shutdownPeriods, type ShutdownPeriod } from './shutdown/shutdown-periods';
import { validateOptions } from './validate-options';

export { flags };

export interface Options {
  nodeName: string;
  /** Light nodes of this process; undefined: one ordinary node. */
  nodes: number | undefined;
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
  /** Where CSI drivers make themselves known; one directory for all light nodes of a machine. */
  pluginsRegistryDir: string;
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
  /** What of the node is not for Pods: for the system, and for Kubernetes' own daemons. */
  reserved: readonly Reserved[];
  allowedUnsafeSysctls: readonly string[];
  imageGCHigh: number;
  imageGCLow: number;
  imageMinimumGCAgeMs: number;
  evictionThresholds: readonly Threshold[];
  /** Of Pods that a soft threshold evicts. */
  evictionMaxPodGraceSeconds: number;
  /** Undefined: no limit. */
  eventRate: { qps: number; burst: number } | undefined;
  /** Negative: any number. */
  maxDeadContainers: number;
  maxDeadContainersPerContainer: number;
  minContainerAgeMs: number;
  /** Empty: graceful node shutdown is off. */
  shutdownPeriods: readonly ShutdownPeriod[];
  pressureTransitionMs: number;
  nodeLabels: Readonly<Record<string, string>>;
  taints: readonly Taint[];
  registerNode: boolean;
  serializeImagePulls: boolean;
  staticPodPath: string | undefined;
  staticPodURL: string | undefined;
  staticPodURLHeaders: readonly (readonly [name: string, value: string])[];
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

export async function toOptions(values: FlagValues<typeof flags>): Promise<Options> {
  if (values['read-only-port'] !== 0)
    throw new UsageError('--read-only-port is not offered: only 0 is allowed');
  if (!values.kubeconfig && !values['bootstrap-kubeconfig']) {
    throw new UsageError('--kubeconfig is needed: where the API server is and who this node is');
  }
  const config = values.config ? await readConfiguration(values.config) : {};
  const choose = choice(values);
  const rootDir = values['root-dir'];
  const certDir = values['cert-dir'] ?? join(rootDir, 'pki');
  const runtimeEndpoint = choose('container-runtime-endpoint', config.containerRuntimeEndpoint);
  const options: Options = {
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
    pluginsRegistryDir: join(rootDir, 'plugins_registry'),
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
    reserved: [
      parseReserved('system-reserved', choose('system-reserved', statements(config.systemReserved, '='))),
      parseReserved('kube-reserved', choose('kube-reserved', statements(config.kubeReserved, '='))),
    ],
    allowedUnsafeSysctls: parseAllowedSysctls(choose('allowed-unsafe-sysctls', config.allowedUnsafeSysctls)),
    imageGCHigh: choose('image-gc-high-threshold', config.imageGCHighThresholdPercent),
    imageGCLow: choose('image-gc-low-threshold', config.imageGCLowThresholdPercent),
    imageMinimumGCAgeMs: choose(
      'minimum-image-ttl-duration',
      duration('imageMinimumGCAge', config.imageMinimumGCAge),
    ),
    evictionThresholds: parseThresholds({
      hard: choose('eviction-hard', statements(config.evictionHard, '<')),
      soft: choose('eviction-soft', statements(config.evictionSoft, '<')),
      gracePeriods: choose('eviction-soft-grace-period', statements(config.evictionSoftGracePeriod, '=')),
      minimumReclaim: choose('eviction-minimum-reclaim', statements(config.evictionMinimumReclaim, '=')),
    }),
    evictionMaxPodGraceSeconds: choose('eviction-max-pod-grace-period', config.evictionMaxPodGracePeriod),
    eventRate: eventRate(
      choose('event-qps', config.eventRecordQPS),
      choose('event-burst', config.eventBurst),
    ),
    maxDeadContainers: values['maximum-dead-containers'],
    maxDeadContainersPerContainer: values['maximum-dead-containers-per-container'],
    minContainerAgeMs: values['minimum-container-ttl-duration'],
    shutdownPeriods: shutdownPeriods({
      totalMs: choose('shutdown-grace-period', duration('shutdownGracePeriod', config.shutdownGracePeriod)),
      criticalMs: choose(
        'shutdown-grace-period-critical-pods',
        duration('shutdownGracePeriodCriticalPods', config.shutdownGracePeriodCriticalPods),
      ),
      byPriority: config.shutdownGracePeriodByPodPriority ?? [],
    }),
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
    staticPodURLHeaders:
      values['manifest-url-header'].length > 0
        ? values['manifest-url-header'].map(parseHeader)
        : Object.entries(config.staticPodURLHeader ?? {}).flatMap(([name, texts]) =>
            texts.map((text): [string, string] => [name, text]),
          ),
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
    fileCheckMs: choose('file-check-frequency', duration('fileCheckFrequency', config.fileCheckFrequency)),
    httpCheckMs: choose('http-check-frequency', duration('httpCheckFrequency', config.httpCheckFrequency)),
    containerLogMaxSize: Quantity.parse(config.containerLogMaxSize ?? '10Mi').value(),
    containerLogMaxFiles: config.containerLogMaxFiles ?? 5,
  };
  validateOptions(options);
  return options;
}

/** A flag that differs from its default goes before the configuration file. */
function choice(values: FlagValues<typeof flags>) {
  return <K extends keyof typeof flags>(
    name: K,
    configured: FlagValues<typeof flags>[K] | undefined,
  ): FlagValues<typeof flags>[K] => {
    const spec: FlagSpec = flags[name];
    const isLeftOut = values[name] === (spec.default ?? undefined) || String(values[name]) === '';
    return configured !== undefined && isLeftOut ? configured : values[name];
  };
}

const statements = (entries: Record<string, string> | undefined, sign: string): string[] | undefined =>
  entries && Object.entries(entries).map(([signal, value]) => `${signal}${sign}${value}`);

const eventRate = (qps: number, burst: number): Options['eventRate'] =>
  qps > 0 ? { qps, burst } : undefined;

function parseLabel(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`invalid value "${text}" for --node-labels: must be key=value`);
  return [text.slice(0, at), text.slice(at + 1)];
}

function parseHeader(text: string): [string, string] {
  const at = text.indexOf(':');
  if (at < 1) throw new UsageError(`invalid value "${text}" for --manifest-url-header: must be name:value`);
  return [text.slice(0, at), text.slice(at + 1).trim()];
}

function parseTaint(text: string): Taint {
  const match = /^([^=:]+)(?:=([^:]*))?:(NoSchedule|PreferNoSchedule|NoExecute)$/.exec(text);
  if (!match?.[1])
    throw new UsageError(`invalid value "${text}" for --register-with-taints: must be key=value:effect`);
  return { key: match[1], ...(match[2] ? { value: match[2] } : {}), effect: match[3] as Taint['effect'] };
}
