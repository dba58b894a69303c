import { isCriError, type RuntimeClient } from '@tinkernetes/cri';
import { labels } from './labels';
import {
  emptyPodRuntimeStatus,
  podRuntimeStatus,
  toRuntimeContainer,
  type PodIdentity,
  type PodRuntimeStatus,
} from './pod-runtime-status';

/** Asks the runtime for everything that it has of a Pod. */
export async function inspectPod(
  runtime: RuntimeClient,
  pod: Required<PodIdentity>,
): Promise<PodRuntimeStatus> {
  const labelSelector = { [labels.podUID]: pod.uid };
  const [{ items }, { containers }] = await Promise.all([
    runtime.listPodSandbox({ filter: { labelSelector } }),
    runtime.listContainers({ filter: { labelSelector } }),
  ]);
  if (items.length === 0 && containers.length === 0)
    return emptyPodRuntimeStatus(pod.uid, pod.name, pod.namespace);
  const [sandboxes, statuses] = await Promise.all([
    Promise.all(items.map((s) => unlessGone(runtime.podSandboxStatus({ podSandboxId: s.id })))),
    Promise.all(
      containers.map(async (c) => {
        const answer = await unlessGone(runtime.containerStatus({ containerId: c.id }));
        return answer?.status ? [toRuntimeContainer(answer.status, c.podSandboxId)] : [];
      }),
    ),
  ]);
  return podRuntimeStatus(
    pod,
    sandboxes.flatMap((s) => s?.status ?? []),
    statuses.flat(),
  );
}

/** Between the list and the look something may have been removed. */
async function unlessGone<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isCriError(error, 'NOT_FOUND')) return undefined;
    throw error;
  }
}
