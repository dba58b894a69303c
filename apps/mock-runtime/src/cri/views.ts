import type {
  Container as ContainerView,
  ContainerStatus,
  DeepPartial,
  Image,
  PodSandbox,
  PodSandboxStatus,
} from '@tinkernetes/cri';
import type { Container } from '../containers/container';
import type { SandboxRecord } from '../containers/records';
import type { StoredImage } from '../images/image';

/** Records as CRI messages. */

export function sandboxView({
  id,
  config,
  state,
  createdAt,
  runtimeHandler,
}: SandboxRecord): DeepPartial<PodSandbox> {
  const { metadata, labels, annotations } = config;
  return { id, metadata, state, createdAt, labels, annotations, runtimeHandler };
}

export function sandboxStatus(record: SandboxRecord): DeepPartial<PodSandboxStatus> {
  const [ip = '', ...additional] = record.state === 'SANDBOX_READY' ? record.ips : [];
  return {
    ...sandboxView(record),
    network: { ip, additionalIps: additional.map((other) => ({ ip: other })) },
    linux: { namespaces: { options: record.config.linux?.securityContext?.namespaceOptions ?? undefined } },
  };
}

export function containerView({ record }: Container): DeepPartial<ContainerView> {
  const { id, sandboxId, config, imageId, imageRef, state, createdAt } = record;
  const { metadata, image, labels, annotations } = config;
  return {
    id,
    podSandboxId: sandboxId,
    metadata,
    image,
    imageId,
    imageRef,
    state,
    createdAt,
    labels,
    annotations,
  };
}

export function containerStatus(container: Container): DeepPartial<ContainerStatus> {
  const { record } = container;
  const { metadata, image, labels, annotations, mounts, linux, stopSignal } = record.config;
  return {
    id: record.id,
    metadata,
    state: record.state,
    createdAt: record.createdAt,
    startedAt: record.startedAt,
    finishedAt: record.finishedAt,
    exitCode: record.exitCode,
    image: { ...image, image: container.image.repoTags[0] ?? image?.image ?? '' },
    imageId: record.imageId,
    imageRef: record.imageRef,
    reason: record.reason,
    message: record.message,
    labels,
    annotations,
    mounts,
    logPath: record.logPath,
    stopSignal:
      stopSignal === 'RUNTIME_DEFAULT'
        ? (container.image.definition.config.stopSignal ?? 'SIGTERM')
        : stopSignal,
    resources: linux?.resources ? { linux: linux.resources } : undefined,
    user: userView(container),
  };
}

function userView(container: Container): DeepPartial<ContainerStatus>['user'] {
  const user = container.runsAs;
  return user && { linux: { uid: user.uid, gid: user.gid, supplementalGroups: user.groups } };
}

export function imageView({
  id,
  repoTags,
  repoDigests,
  size,
  pinned,
  definition,
}: StoredImage): DeepPartial<Image> {
  const user = definition.config.user?.split(':')[0];
  const numeric = user !== undefined && /^\d+$/.test(user);
  return {
    id,
    repoTags,
    repoDigests,
    size,
    pinned,
    uid: numeric ? { value: Number(user) } : undefined,
    username: user !== undefined && !numeric ? user : '',
    spec: { image: repoTags[0] ?? repoDigests[0] ?? id },
  };
}
