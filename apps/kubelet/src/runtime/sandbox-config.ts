import type { Pod } from '@tinkernetes/api';
import type { DeepPartial, DNSConfig, PodSandboxConfig } from '@tinkernetes/cri';
import { join } from 'node:path';
import { allContainers, isHostNetwork, uidOf } from '../pods/pod-facts';
import { labels } from './labels';
import { cgroupParent } from './resources';
import { namespaceOptions, seccompProfile } from './security-context';

export interface SandboxSettings {
  attempt: number;
  hostname: string;
  dns: DNSConfig | undefined;
  /** Directory of all Pods' logs. */
  podLogsDir: string;
  /** Of a light node. */
  ownerLabel: string | undefined;
}

/** `<namespace>_<name>_<uid>`, fixed by crictl and log collectors. */
export const podLogDirectory = (podLogsDir: string, pod: Pod): string =>
  join(podLogsDir, `${pod.metadata.namespace ?? ''}_${pod.metadata.name}_${uidOf(pod)}`);

/** Source: pkg/kubelet/kuberuntime generatePodSandboxConfig. */
export function sandboxConfig(
  pod: Pod,
  { attempt, hostname, dns, podLogsDir, ownerLabel }: SandboxSettings,
): DeepPartial<PodSandboxConfig> {
  const { name, namespace = '', annotations } = pod.metadata;
  const uid = uidOf(pod);
  const security = pod.spec.securityContext;
  return {
    metadata: { name, namespace, uid, attempt },
    labels: {
      ...pod.metadata.labels,
      [labels.podName]: name,
      [labels.podNamespace]: namespace,
      [labels.podUID]: uid,
      ...(ownerLabel ? { [labels.nodeName]: ownerLabel } : {}),
    },
    annotations,
    hostname: isHostNetwork(pod) ? '' : hostname,
    logDirectory: podLogDirectory(podLogsDir, pod),
    dnsConfig: dns,
    portMappings: isHostNetwork(pod) ? [] : portMappings(pod),
    linux: {
      cgroupParent: cgroupParent(pod),
      sysctls: Object.fromEntries((security?.sysctls ?? []).map((s) => [s.name, s.value])),
      securityContext: {
        namespaceOptions: namespaceOptions(pod),
        privileged: allContainers(pod).some((c) => c.container.securityContext?.privileged),
        seccomp: {
          profileType: 'RuntimeDefault',
          ...(security?.seccompProfile && seccompProfile(security.seccompProfile)),
        },
        runAsUser: security?.runAsUser === undefined ? undefined : { value: security.runAsUser },
        runAsGroup: security?.runAsGroup === undefined ? undefined : { value: security.runAsGroup },
        supplementalGroups: [
          ...(security?.supplementalGroups ?? []),
          ...(security?.fsGroup === undefined ? [] : [security.fsGroup]),
        ],
        selinuxOptions: security?.seLinuxOptions,
      },
    },
  };
}

function portMappings(pod: Pod): NonNullable<DeepPartial<PodSandboxConfig>['portMappings']> {
  return allContainers(pod)
    .flatMap(({ container }) => container.ports ?? [])
    .map((port) => ({
      protocol: port.protocol ?? 'TCP',
      containerPort: port.containerPort,
      hostPort: port.hostPort ?? 0,
      hostIp: port.hostIP ?? '',
    }));
}
