import type { ContainerEventResponse, ContainerStatus, PodSandboxStatus } from '@tinkernetes/cri';
import { annotations, labels } from './labels';

export type RuntimeContainerState = 'created' | 'running' | 'exited' | 'unknown';

/** One container as the runtime knows it. Times are epoch milliseconds, 0: not yet. */
export interface RuntimeContainer {
  id: string;
  name: string;
  sandboxId: string;
  state: RuntimeContainerState;
  createdAt: number;
  startedAt: number;
  finishedAt: number;
  exitCode: number;
  reason: string;
  message: string;
  image: string;
  imageId: string;
  imageRef: string;
  hash: string;
  restartCount: number;
  logPath: string;
  /** Everything the runtime said, for what is needed seldom. */
  raw: ContainerStatus;
}

/** What the runtime knows of one Pod: the kubelet's only memory of what runs, so that it may be restarted any time. */
export interface PodRuntimeStatus {
  uid: string;
  name: string;
  namespace: string;
  /** Newest first. */
  sandboxes: readonly PodSandboxStatus[];
  /** Newest first. */
  containers: readonly RuntimeContainer[];
  /** Of the newest sandbox, while it is ready. */
  ips: readonly string[];
}

export interface PodIdentity {
  uid: string;
  /** Of use only where the runtime has no sandbox of the Pod. */
  name?: string;
  namespace?: string;
}

export function podRuntimeStatus(
  { uid, name = '', namespace = '' }: PodIdentity,
  sandboxes: readonly PodSandboxStatus[],
  containers: readonly RuntimeContainer[],
): PodRuntimeStatus {
  const byAge = [...sandboxes].sort((a, b) => b.createdAt - a.createdAt);
  const newest = byAge[0];
  const network = newest?.state === 'SANDBOX_READY' ? newest.network : null;
  return {
    uid,
    name: newest?.metadata?.name ?? name,
    namespace: newest?.metadata?.namespace ?? namespace,
    sandboxes: byAge,
    containers: [...containers].sort((a, b) => b.createdAt - a.createdAt || b.restartCount - a.restartCount),
    ips: network?.ip ? [network.ip, ...network.additionalIps.map((a) => a.ip)] : [],
  };
}

/** The containers that an event of CRI's GetContainerEvents describes: those of its sandbox. */
export const containersOfEvent = (
  { containersStatuses }: ContainerEventResponse,
  sandboxId: string,
): RuntimeContainer[] => containersStatuses.map((status) => toRuntimeContainer(status, sandboxId));

export const emptyPodRuntimeStatus = (uid: string, name = '', namespace = ''): PodRuntimeStatus => ({
  uid,
  name,
  namespace,
  sandboxes: [],
  containers: [],
  ips: [],
});

const states: Record<ContainerStatus['state'], RuntimeContainerState> = {
  CONTAINER_CREATED: 'created',
  CONTAINER_RUNNING: 'running',
  CONTAINER_EXITED: 'exited',
  CONTAINER_UNKNOWN: 'unknown',
};

const milliseconds = (nanoseconds: number) => Math.floor(nanoseconds / 1e6);

export function toRuntimeContainer(status: ContainerStatus, sandboxId: string): RuntimeContainer {
  return {
    id: status.id,
    name: status.metadata?.name ?? status.labels[labels.containerName] ?? '',
    sandboxId,
    state: states[status.state],
    createdAt: milliseconds(status.createdAt),
    startedAt: milliseconds(status.startedAt),
    finishedAt: milliseconds(status.finishedAt),
    exitCode: status.exitCode,
    reason: status.reason,
    message: status.message,
    image: status.image?.image || status.image?.userSpecifiedImage || '',
    imageId: status.imageId || status.imageRef,
    imageRef: status.imageRef,
    hash: status.annotations[annotations.containerHash] ?? '',
    restartCount: Number(
      status.annotations[annotations.containerRestartCount] ?? status.metadata?.attempt ?? 0,
    ),
    logPath: status.logPath,
    raw: status,
  };
}

/** The newest container of that name. */
export function findContainer(status: PodRuntimeStatus, name: string): RuntimeContainer | undefined {
  return status.containers.find((c) => c.name === name);
}

export function runningContainers(status: PodRuntimeStatus): readonly RuntimeContainer[] {
  return status.containers.filter((c) => c.state === 'running' || c.state === 'created');
}

export function hasReadySandbox(status: PodRuntimeStatus): boolean {
  return status.sandboxes.some((s) => s.state === 'SANDBOX_READY');
}
