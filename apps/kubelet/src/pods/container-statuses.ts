import type { Container, ContainerState, ContainerStatus, Pod, ResourceRequirements } from '@tinkernetes/api';
import { formatTime } from '@tinkernetes/component-base';
import type { PodRuntimeStatus, RuntimeContainer } from '../runtime/pod-runtime-status';
import { restartingAllContainers, restartsAfter } from '../runtime/restart-policy';
import type { WaitingContainers } from '../runtime/runtime-manager';
import { isRecursive, type ContainerKind } from './pod-facts';

export interface ContainerStatusContext {
  runtime: PodRuntimeStatus;
  /** `containerd`, `mock`: the scheme of container IDs. */
  runtimeName: string;
  waiting: WaitingContainers;
  /** What the API server has, or what was last reported. */
  previous: readonly ContainerStatus[];
  /** All containers of the Pod are being removed, so that it begins again. */
  isRestarting: boolean;
  /** Last words of exited containers, by container ID. */
  messages: ReadonlyMap<string, string>;
  /** What a running container has, where that is not what it has been given. */
  actualResources(container: Container, id: string): ResourceRequirements | undefined;
  isReady(container: Container, id: string): boolean;
  isStarted(container: Container, id: string): boolean;
}

/** Source: pkg/kubelet convertToAPIContainerStatuses. */
export function containerStatuses(
  pod: Pod,
  kind: ContainerKind,
  containers: readonly Container[],
  context: ContainerStatusContext,
): ContainerStatus[] {
  return containers.map((container) => containerStatus(pod, kind, container, context));
}

function containerStatus(
  pod: Pod,
  kind: ContainerKind,
  container: Container,
  context: ContainerStatusContext,
): ContainerStatus {
  const [current, last] = context.runtime.containers.filter((c) => c.name === container.name);
  const previous = context.previous.find((s) => s.name === container.name);
  if (!current) return neverSeen(pod, kind, container, { ...context, previous });
  const running = current.state === 'running';
  const started = running && context.isStarted(container, current.id);
  let state = stateOf(current, context);
  let lastState: ContainerState = last ? stateOf(last, context) : (previous?.lastState ?? {});
  const error = context.waiting.get(container.name);
  const runsAgain = current.state !== 'exited' || restartsAfter(pod, container, current);
  if (
    error &&
    !running &&
    runsAgain &&
    !(
      kind === 'init' &&
      current.exitCode === 0 &&
      current.state === 'exited' &&
      container.restartPolicy !== 'Always'
    )
  ) {
    if (state.terminated) lastState = state;
    state = { waiting: { reason: error.reason, message: error.message } };
  }
  return {
    containerID: idText(current.id, context),
    image: current.image,
    // By its digest in the registry, as upstream: what the image is called there, not on this node.
    imageID: current.imageRef || current.imageId,
    lastState: lastState.terminated ? lastState : {},
    name: container.name,
    ready:
      kind === 'init' && container.restartPolicy !== 'Always'
        ? current.state === 'exited' && current.exitCode === 0
        : kind !== 'ephemeral' && running && started && context.isReady(container, current.id),
    restartCount: current.restartCount,
    started: started,
    state,
    ...resourcesOf(container, running ? context.actualResources(container, current.id) : undefined),
    ...userOf(current.user),
    ...volumeMountsOf(container),
  };
}

/** Of a container that has started (KEP-3619). */
function userOf(text: string): Pick<ContainerStatus, 'user'> {
  if (text === '') return {};
  const [uid, gid, groups = ''] = text.split(':');
  const supplementalGroups = groups === '' ? [] : groups.split(',').map(Number);
  return { user: { linux: { uid: Number(uid), gid: Number(gid), supplementalGroups } } };
}

const idText = (id: string, { runtimeName }: Pick<ContainerStatusContext, 'runtimeName'>): string =>
  `${runtimeName}://${id}`;

function neverSeen(
  pod: Pod,
  kind: ContainerKind,
  container: Container,
  {
    previous,
    waiting,
    isRestarting,
  }: { previous: ContainerStatus | undefined } & Pick<ContainerStatusContext, 'waiting' | 'isRestarting'>,
): ContainerStatus {
  const removed = ownRemoval(previous, { isRestarting, waiting });
  if (removed) return { ...removed, ...volumeMountsOf(container) };
  // The runtime may have forgotten a container that ended; its last status stays true.
  if (previous?.state?.terminated) return { ...previous, ready: previous.ready && kind === 'init' };
  const error = waiting.get(container.name);
  const hasInit = (pod.spec.initContainers ?? []).length > 0;
  const reason = kind !== 'ephemeral' && hasInit ? 'PodInitializing' : 'ContainerCreating';
  return {
    image: container.image ?? '',
    imageID: '',
    lastState: previous?.state?.running ? unknownEnd() : (previous?.lastState ?? {}),
    name: container.name,
    ready: false,
    restartCount: previous?.restartCount ?? 0,
    started: false,
    state: { waiting: error ? { reason: error.reason, message: error.message } : { reason } },
    ...volumeMountsOf(container),
  };
}

/** A container that was removed so that the whole Pod begins again, until it runs. */
function ownRemoval(
  previous: ContainerStatus | undefined,
  { isRestarting, waiting }: Pick<ContainerStatusContext, 'waiting' | 'isRestarting'>,
): ContainerStatus | undefined {
  if (!previous) return undefined;
  const hasRun = previous.state?.running !== undefined || previous.state?.terminated !== undefined;
  const isGone = isRestartingAll(previous);
  if (!isGone && !(isRestarting && hasRun)) return undefined;
  const { image, imageID, name, restartCount } = previous;
  const error = waiting.get(name);
  return {
    image,
    imageID,
    lastState: { terminated: { exitCode: 137, ...restartingAllContainers } },
    name,
    ready: false,
    restartCount: isGone ? restartCount : restartCount + 1,
    started: false,
    state: {
      waiting: error ? { reason: error.reason, message: error.message } : restartingAllContainers,
    },
  };
}

/** Whether a container was removed for the restart of its Pod, and has not run since. */
export const isRestartingAll = ({ state, lastState }: ContainerStatus): boolean =>
  state?.waiting !== undefined && lastState?.terminated?.reason === restartingAllContainers.reason;

/** It was running when last seen and has left no trace since. */
const unknownEnd = (): ContainerState => ({
  terminated: {
    exitCode: 137,
    reason: 'ContainerStatusUnknown',
    message: 'The container could not be located when the pod was deleted.  The container used to be Running',
  },
});

function stateOf(container: RuntimeContainer, context: ContainerStatusContext): ContainerState {
  switch (container.state) {
    case 'running':
      return { running: { startedAt: formatTime(container.startedAt) } };
    case 'created':
      return { waiting: { reason: 'ContainerCreating' } };
    case 'unknown':
    case 'exited': {
      const message = context.messages.get(container.id) ?? container.message;
      return {
        terminated: {
          containerID: idText(container.id, context),
          exitCode: container.exitCode,
          finishedAt: formatTime(container.finishedAt),
          ...(message ? { message } : {}),
          reason: container.reason || (container.exitCode === 0 ? 'Completed' : 'Error'),
          startedAt: formatTime(container.startedAt),
        },
      };
    }
  }
}

function resourcesOf(
  container: Container,
  actual: ResourceRequirements | undefined,
): Pick<ContainerStatus, 'resources' | 'allocatedResources'> {
  const { requests } = container.resources ?? {};
  const { limits: actualLimits, requests: actualRequests } = actual ?? container.resources ?? {};
  return {
    ...(requests ? { allocatedResources: requests } : {}),
    resources: {
      ...(actualLimits ? { limits: actualLimits } : {}),
      ...(actualRequests ? { requests: actualRequests } : {}),
    },
  };
}

function volumeMountsOf(container: Container): Pick<ContainerStatus, 'volumeMounts'> {
  const mounts = container.volumeMounts ?? [];
  if (mounts.length === 0) return {};
  return {
    volumeMounts: mounts.map(({ name, mountPath, readOnly, recursiveReadOnly }) => ({
      name,
      mountPath,
      ...(readOnly
        ? { readOnly, recursiveReadOnly: isRecursive(recursiveReadOnly) ? 'Enabled' : 'Disabled' }
        : {}),
    })),
  };
}
