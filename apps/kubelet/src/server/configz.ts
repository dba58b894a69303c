import type { Options } from '../options';
import { durationText } from '../runtime/back-off';

/** The configuration in effect, in the shape of `/configz`. */
export function serveConfigz(options: Options): object {
  return {
    kubeletconfig: {
      kind: 'KubeletConfiguration',
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      address: options.address,
      port: options.port,
      authentication: {
        x509: options.clientCAFile ? { clientCAFile: options.clientCAFile } : {},
        webhook: { enabled: true, cacheTTL: '2m0s' },
        anonymous: { enabled: false },
      },
      authorization: {
        mode: 'Webhook',
        webhook: { cacheAuthorizedTTL: '5m0s', cacheUnauthorizedTTL: '30s' },
      },
      clusterDNS: options.clusterDNS,
      clusterDomain: options.clusterDomain,
      containerRuntimeEndpoint: options.runtimeEndpoint,
      crashLoopBackOff: { maxContainerRestartPeriod: durationText(options.maxCrashBackOffMs) },
      maxPods: options.maxPods,
      nodeLeaseDurationSeconds: options.leaseDurationSeconds,
      nodeStatusReportFrequency: durationText(options.nodeStatusReportMs),
      nodeStatusUpdateFrequency: durationText(options.nodeStatusUpdateMs),
      podLogsDir: options.podLogsDir,
      registerNode: options.registerNode,
      resolvConf: options.resolvConf,
      runtimeRequestTimeout: durationText(options.runtimeRequestTimeoutMs),
      serializeImagePulls: options.serializeImagePulls,
      staticPodPath: options.staticPodPath,
      staticPodURL: options.staticPodURL,
      syncFrequency: durationText(options.syncFrequencyMs),
    },
  };
}
