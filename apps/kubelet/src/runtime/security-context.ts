import type { Container, Pod, SeccompProfile } from '@tinkernetes/api';
import type {
  DeepPartial,
  LinuxContainerSecurityContext,
  NamespaceOption,
  SecurityProfile,
} from '@tinkernetes/cri';
import { ContainerConfigError } from '../environment/environment';
import type { ImageUser } from '../images/image-manager';
import { uidOf } from '../pods/pod-facts';

const maskedPaths = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
  '/sys/devices/virtual/powercap',
];
const readonlyPaths = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

export function namespaceOptions(pod: Pod): DeepPartial<NamespaceOption> {
  return {
    network: pod.spec.hostNetwork ? 'NODE' : 'POD',
    ipc: pod.spec.hostIPC ? 'NODE' : 'POD',
    pid: pod.spec.hostPID ? 'NODE' : pod.spec.shareProcessNamespace ? 'POD' : 'CONTAINER',
  };
}

export function seccompProfile(profile: SeccompProfile | undefined): DeepPartial<SecurityProfile> {
  switch (profile?.type) {
    case 'RuntimeDefault':
      return { profileType: 'RuntimeDefault' };
    case 'Localhost':
      return { profileType: 'Localhost', localhostRef: profile.localhostProfile ?? '' };
    default:
      return { profileType: 'Unconfined' };
  }
}

/** The container's settings over the Pod's. Source: pkg/securitycontext DetermineEffectiveSecurityContext. */
export function containerSecurityContext(
  pod: Pod,
  container: Container,
  { imageUser, targetId }: { imageUser: ImageUser; targetId?: string },
): DeepPartial<LinuxContainerSecurityContext> {
  const own = container.securityContext ?? {};
  const shared = pod.spec.securityContext ?? {};
  const user = own.runAsUser ?? shared.runAsUser ?? imageUser.uid;
  const group = own.runAsGroup ?? shared.runAsGroup;
  const selinux = own.seLinuxOptions ?? shared.seLinuxOptions;
  const privileged = own.privileged ?? false;
  const unmasked = privileged || own.procMount === 'Unmasked';
  const supplementalGroups = [...(shared.supplementalGroups ?? [])];
  if (shared.fsGroup !== undefined) supplementalGroups.push(shared.fsGroup);
  return {
    privileged,
    capabilities: own.capabilities
      ? { addCapabilities: own.capabilities.add ?? [], dropCapabilities: own.capabilities.drop ?? [] }
      : undefined,
    namespaceOptions: targetId
      ? { ...namespaceOptions(pod), pid: 'TARGET', targetId }
      : namespaceOptions(pod),
    runAsUser: user === undefined ? undefined : { value: user },
    runAsUsername: user === undefined ? imageUser.username : '',
    runAsGroup: group === undefined ? undefined : { value: group },
    readonlyRootfs: own.readOnlyRootFilesystem ?? false,
    supplementalGroups,
    supplementalGroupsPolicy: shared.supplementalGroupsPolicy ?? 'Merge',
    selinuxOptions: selinux,
    noNewPrivs: own.allowPrivilegeEscalation === false,
    seccomp: privileged
      ? { profileType: 'Unconfined' }
      : seccompProfile(own.seccompProfile ?? shared.seccompProfile),
    maskedPaths: unmasked ? [] : maskedPaths,
    readonlyPaths: unmasked ? [] : readonlyPaths,
  };
}

/** Throws where runAsNonRoot is asked for and root is, or may be, what would run. Source: pkg/kubelet/kuberuntime verifyRunAsNonRoot. */
export function verifyRunAsNonRoot(pod: Pod, container: Container, image: ImageUser): void {
  const own = container.securityContext;
  const shared = pod.spec.securityContext;
  if (!(own?.runAsNonRoot ?? shared?.runAsNonRoot)) return;
  const { name, namespace = '' } = pod.metadata;
  const where = `(pod: "${name}_${namespace}(${uidOf(pod)})", container: ${container.name})`;
  const asked = own?.runAsUser ?? shared?.runAsUser;
  if (asked === 0) throw new ContainerConfigError(`container's runAsUser breaks non-root policy ${where}`);
  if (asked !== undefined) return;
  if (image.uid === 0)
    throw new ContainerConfigError(`container has runAsNonRoot and image will run as root ${where}`);
  if (image.uid === undefined)
    throw new ContainerConfigError(
      `container has runAsNonRoot and image has non-numeric user (${image.username}), cannot verify user is non-root ${where}`,
    );
}
