import type { Threshold } from '../eviction/thresholds';
import type { Reserved } from '../node/reserved';
import type { Options } from '../options';
import { durationText } from '../runtime/back-off';

/** The configuration in effect, in the shape of `/configz`. */
export function serveConfigz(options: Options): object {
  const [systemReserved, kubeReserved] = options.reserved.map(textsOf);
  return {
    kubeletconfig: {
      kind: 'KubeletConfiguration',
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      address: options.address,
      allowedUnsafeSysctls: options.allowedUnsafeSysctls,
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
      eventBurst: options.eventRate?.burst,
      eventRecordQPS: options.eventRate?.qps ?? 0,
      evictionHard: thresholdsOf(options, (t) => t.gracePeriodMs === 0),
      evictionMaxPodGracePeriod: options.evictionMaxPodGraceSeconds,
      evictionPressureTransitionPeriod: durationText(options.pressureTransitionMs),
      evictionSoft: thresholdsOf(options, (t) => t.gracePeriodMs > 0),
      shutdownGracePeriodByPodPriority: options.shutdownPeriods.map(({ priority, seconds }) => ({
        priority,
        shutdownGracePeriodSeconds: seconds,
      })),
      imageGCHighThresholdPercent: options.imageGCHigh,
      imageGCLowThresholdPercent: options.imageGCLow,
      imageMinimumGCAge: durationText(options.imageMinimumGCAgeMs),
      kubeReserved,
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
      systemReserved,
    },
  };
}

const textsOf = (reserved: Reserved): Record<string, string> =>
  Object.fromEntries([...reserved].map(([name, quantity]) => [name, quantity.toString()]));

function thresholdsOf(options: Options, wanted: (threshold: Threshold) => boolean): Record<string, string> {
  const text = ({ value }: Threshold) =>
    'quantity' in value ? value.quantity.toString() : `${value.share * 100}%`;
  return Object.fromEntries(options.evictionThresholds.filter(wanted).map((t) => [t.signal, text(t)]));
}
