import type { Taint } from '@tinkernetes/api';
import { parseDuration, UsageError } from '@tinkernetes/component-base';
import { readFile } from 'node:fs/promises';

/** The fields of kubelet.config.k8s.io/v1beta1 KubeletConfiguration that this kubelet knows. */
export interface KubeletConfiguration {
  kind?: string;
  address?: string;
  allowedUnsafeSysctls?: string[];
  port?: number;
  authentication?: { x509?: { clientCAFile?: string } };
  clusterDNS?: string[];
  clusterDomain?: string;
  containerLogMaxFiles?: number;
  containerLogMaxSize?: string;
  containerRuntimeEndpoint?: string;
  imageServiceEndpoint?: string;
  crashLoopBackOff?: { maxContainerRestartPeriod?: string };
  eventBurst?: number;
  eventRecordQPS?: number;
  evictionHard?: Record<string, string>;
  evictionMaxPodGracePeriod?: number;
  evictionMinimumReclaim?: Record<string, string>;
  evictionSoft?: Record<string, string>;
  evictionSoftGracePeriod?: Record<string, string>;
  evictionPressureTransitionPeriod?: string;
  fileCheckFrequency?: string;
  httpCheckFrequency?: string;
  imageGCHighThresholdPercent?: number;
  imageGCLowThresholdPercent?: number;
  imageMinimumGCAge?: string;
  kubeReserved?: Record<string, string>;
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
  shutdownGracePeriod?: string;
  shutdownGracePeriodCriticalPods?: string;
  shutdownGracePeriodByPodPriority?: Array<{ priority: number; shutdownGracePeriodSeconds: number }>;
  staticPodPath?: string;
  staticPodURL?: string;
  staticPodURLHeader?: Record<string, string[]>;
  syncFrequency?: string;
  systemReserved?: Record<string, string>;
  tlsCertFile?: string;
  tlsPrivateKeyFile?: string;
}

export async function readConfiguration(path: string): Promise<KubeletConfiguration> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new UsageError(
      `--config ${path} can't be read: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
  const value = (await parse(text)) as KubeletConfiguration | null;
  if (value?.kind !== 'KubeletConfiguration')
    throw new UsageError(`--config ${path} holds no KubeletConfiguration`);
  return value;
}

/** The YAML parser is loaded only where a YAML file is given: a start without one does not wait for it. */
async function parse(text: string): Promise<unknown> {
  return text.trimStart().startsWith('{') ? JSON.parse(text) : (await import('yaml')).parse(text);
}

/** Milliseconds of a configuration's duration. */
export function duration(field: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms === undefined) throw new UsageError(`${field}: "${text}" is not a duration such as 10s or 1m30s`);
  return ms;
}
