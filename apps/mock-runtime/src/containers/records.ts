import type { ContainerConfig, ContainerState, PodSandboxConfig, PodSandboxState } from '@tinkernetes/cri';

/** A sandbox as it is kept on disk. Times are nanoseconds since the epoch, as CRI has them. */
export interface SandboxRecord {
  id: string;
  config: PodSandboxConfig;
  runtimeHandler: string;
  createdAt: number;
  state: PodSandboxState;
  /** CNI_NETNS; empty for the node's own network. */
  netns: string;
  ips: readonly string[];
}

export interface ContainerRecord {
  id: string;
  sandboxId: string;
  config: ContainerConfig;
  imageId: string;
  imageRef: string;
  /** Absolute; empty when no log is kept. */
  logPath: string;
  createdAt: number;
  startedAt: number;
  finishedAt: number;
  state: ContainerState;
  exitCode: number;
  reason: string;
  message: string;
}

export const hostNetworkOf = (config: PodSandboxConfig): boolean =>
  config.linux?.securityContext?.namespaceOptions?.network === 'NODE';
