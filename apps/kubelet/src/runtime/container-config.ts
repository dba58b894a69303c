import type { Container, Pod } from '@tinkernetes/api';
import type { ContainerConfig, DeepPartial, Mount, Signal } from '@tinkernetes/cri';
import { join } from 'node:path';
import type { ContainerDevices } from '../devices/container-devices';
import type { Environment } from '../environment/environment';
import { expand } from '../environment/expansion';
import type { ImageUser } from '../images/image-manager';
import { uidOf } from '../pods/pod-facts';
import { containerHash } from './container-hash';
import { annotations, labels } from './labels';
import { linuxResources } from './resources';
import { containerSecurityContext } from './security-context';

export interface ContainerSettings {
  attempt: number;
  image: string;
  imageUser: ImageUser;
  env: Environment;
  mounts: ReadonlyArray<DeepPartial<Mount>>;
  devices: ContainerDevices;
  memoryCapacity: number;
  /** The container whose processes an ephemeral container sees. */
  targetId?: string;
}

/** Relative to the sandbox's log directory: `<container>/<attempt>.log`. */
const containerLogPath = (name: string, attempt: number): string => join(name, `${attempt}.log`);

/** Source: pkg/kubelet/kuberuntime generateContainerConfig. */
export function containerConfig(
  pod: Pod,
  container: Container,
  { attempt, image, imageUser, env, mounts, devices, memoryCapacity, targetId }: ContainerSettings,
): DeepPartial<ContainerConfig> {
  const lookup = (name: string) => env.get(name);
  return {
    metadata: { name: container.name, attempt },
    image: { image, userSpecifiedImage: container.image },
    command: (container.command ?? []).map((text) => expand(text, lookup)),
    args: (container.args ?? []).map((text) => expand(text, lookup)),
    workingDir: container.workingDir,
    envs: [...new Map([...Object.entries(devices.envs), ...env])].map(([key, value]) => ({
      key,
      value: Buffer.from(value),
    })),
    mounts: [...mounts, ...devices.mounts],
    devices: [...devices.devices],
    CDIDevices: devices.cdiDevices,
    labels: {
      [labels.podName]: pod.metadata.name,
      [labels.podNamespace]: pod.metadata.namespace ?? '',
      [labels.podUID]: uidOf(pod),
      [labels.containerName]: container.name,
    },
    annotations: { ...devices.annotations, ...containerAnnotations(pod, container, attempt) },
    logPath: containerLogPath(container.name, attempt),
    stdin: container.stdin,
    stdinOnce: container.stdinOnce,
    tty: container.tty,
    stopSignal: stopSignal(container),
    linux: {
      resources: linuxResources(pod, container, memoryCapacity),
      securityContext: containerSecurityContext(pod, container, { imageUser, targetId }),
    },
  };
}

function containerAnnotations(pod: Pod, container: Container, attempt: number): Record<string, string> {
  const out: Record<string, string> = {
    [annotations.containerHash]: containerHash(container),
    [annotations.containerRestartCount]: String(attempt),
    [annotations.containerTerminationMessagePath]: container.terminationMessagePath ?? '/dev/termination-log',
    [annotations.containerTerminationMessagePolicy]: container.terminationMessagePolicy ?? 'File',
  };
  const grace = pod.spec.terminationGracePeriodSeconds;
  if (grace !== undefined) out[annotations.podTerminationGracePeriod] = String(grace);
  const deletionGrace = pod.metadata.deletionGracePeriodSeconds;
  if (deletionGrace !== undefined) out[annotations.podDeletionGracePeriod] = String(deletionGrace);
  if (container.lifecycle?.preStop) {
    out[annotations.containerPreStopHandler] = JSON.stringify(container.lifecycle.preStop);
  }
  if (container.ports?.length) out[annotations.containerPorts] = JSON.stringify(container.ports);
  return out;
}

/** `SIGRTMIN+3` is `SIGRTMINPLUS3` in the CRI. */
function stopSignal(container: Container): Signal | undefined {
  const signal = container.lifecycle?.stopSignal;
  return signal?.replace('+', 'PLUS').replace('-', 'MINUS') as Signal | undefined;
}
