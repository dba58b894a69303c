import { textPool } from '@tinkernetes/component-base';
import type {
  ContainerEventResponse,
  ContainerStatus,
  LinuxContainerResources,
  PodSandboxStatus,
} from '@tinkernetes/cri';
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
  lastWords: LastWords;
  /** As the runtime last said. */
  resources: ResourceNumbers | undefined;
  /** Whom its first process started as, `uid:gid:group,group…`; empty where the runtime doesn't tell. */
  user: string;
}

/** Of a container's resources, what may change while it runs. */
export type ResourceNumbers = Pick<LinuxContainerResources, 'cpuShares' | 'cpuQuota' | 'memoryLimitInBytes'>;

/** Where the container's last words are, as the annotations say that the kubelet put on it. */
export interface LastWords {
  /** The file on the node. */
  path: string;
  policy: string | undefined;
}

/** Of what the runtime says of a sandbox only this is kept: there are thousands. Times are as the runtime gives them. */
export interface RuntimeSandbox extends Pick<PodSandboxStatus, 'id' | 'state' | 'createdAt'> {
  attempt: number;
  isHostNetwork: boolean;
  /** Empty: none. */
  ip: string;
}

/** What the runtime knows of one Pod: the kubelet's only memory of what runs, so that it may be restarted any time. */
export interface PodRuntimeStatus {
  uid: string;
  name: string;
  namespace: string;
  /** Newest first. */
  sandboxes: readonly RuntimeSandbox[];
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
    sandboxes: byAge.map(toRuntimeSandbox),
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

const toRuntimeSandbox = (status: PodSandboxStatus): RuntimeSandbox => ({
  id: status.id,
  state: status.state,
  createdAt: status.createdAt,
  attempt: status.metadata?.attempt ?? 0,
  isHostNetwork: status.linux?.namespaces?.options?.network === 'NODE',
  ip: status.network?.ip ?? '',
});

/** What many containers have in common is kept once. */
const common = textPool(512);

export const resourceNumbers = ({
  cpuShares = 0,
  cpuQuota = 0,
  memoryLimitInBytes = 0,
}: Partial<ResourceNumbers>): ResourceNumbers => ({ cpuShares, cpuQuota, memoryLimitInBytes });

function lastWordsOf({ annotations: said, mounts }: ContainerStatus): LastWords {
  const inside = said[annotations.containerTerminationMessagePath];
  return {
    path: mounts?.find((m) => m.containerPath === inside)?.hostPath ?? '',
    policy: said[annotations.containerTerminationMessagePolicy],
  };
}

function userText({ user }: ContainerStatus): string {
  const linux = user?.linux;
  return linux ? `${linux.uid}:${linux.gid}:${linux.supplementalGroups.join()}` : '';
}

export function toRuntimeContainer(status: ContainerStatus, sandboxId: string): RuntimeContainer {
  return {
    id: status.id,
    name: common(status.metadata?.name ?? status.labels[labels.containerName] ?? ''),
    sandboxId,
    state: states[status.state],
    createdAt: milliseconds(status.createdAt),
    startedAt: milliseconds(status.startedAt),
    finishedAt: milliseconds(status.finishedAt),
    exitCode: status.exitCode,
    reason: common(status.reason),
    message: status.message,
    image: common(status.image?.image || status.image?.userSpecifiedImage || ''),
    imageId: common(status.imageId || status.imageRef),
    imageRef: common(status.imageRef),
    hash: common(status.annotations[annotations.containerHash] ?? ''),
    restartCount: Number(
      status.annotations[annotations.containerRestartCount] ?? status.metadata?.attempt ?? 0,
    ),
    logPath: status.logPath,
    lastWords: lastWordsOf(status),
    resources: status.resources?.linux ? resourceNumbers(status.resources.linux) : undefined,
    user: common(userText(status)),
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
