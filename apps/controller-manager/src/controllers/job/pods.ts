import { Jobs, type Creatable, type Job, type Pod } from '@tinkernetes/api';
import { findCondition, isPodReady, isRestartableInitContainer } from '@tinkernetes/apimachinery';
import { controllerRefOf } from '@tinkernetes/controller';
import { podFromTemplate } from '../shared/pod-control';

export const trackingFinalizer = 'batch.kubernetes.io/job-tracking';
const indexKey = 'batch.kubernetes.io/job-completion-index';
const failureCountKey = 'batch.kubernetes.io/job-index-failure-count';
const ignoredFailureCountKey = 'batch.kubernetes.io/job-index-ignored-failure-count';

export const isIndexed = (job: Job): boolean => job.spec.completionMode === 'Indexed';
export const isTracked = (pod: Pod): boolean => pod.metadata.finalizers?.includes(trackingFinalizer) ?? false;
export const isSucceeded = (pod: Pod): boolean => pod.status?.phase === 'Succeeded';

/** Also a Pod that is being deleted, unless replacements wait until Pods have really failed. */
export function isFailed(job: Job, pod: Pod): boolean {
  if (pod.status?.phase === 'Failed') return true;
  if (onlyReplacesFailed(job)) return false;
  return pod.metadata.deletionTimestamp !== undefined && !isSucceeded(pod);
}

export const onlyReplacesFailed = (job: Job): boolean =>
  job.spec.podReplacementPolicy === 'Failed' ||
  (!job.spec.podReplacementPolicy && !!job.spec.podFailurePolicy);

export function indexOf(pod: Pod): number | undefined {
  const text = pod.metadata.annotations?.[indexKey];
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** How often the index had failed when the Pod was made. */
export const failureCountOf = (pod: Pod): number =>
  Number(pod.metadata.annotations?.[failureCountKey] ?? 0) || 0;

/** How often it had failed in ways that the failure policy ignores. */
export const ignoredFailureCountOf = (pod: Pod): number =>
  Number(pod.metadata.annotations?.[ignoredFailureCountKey] ?? 0) || 0;

/** One index of an Indexed Job, and how often its Pods have failed. */
export interface IndexSlot {
  number: number;
  failures: number;
  ignored?: number;
}

/**
 * When a Pod finished, epoch ms: its last container; else when it was no longer ready, or was told to go.
 * Source: job/backoff_utils.go getFinishedTime.
 */
export function finishedAt(pod: Pod): number {
  const ready = findCondition(pod.status?.conditions, 'Ready');
  const { creationTimestamp = '', deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata;
  const unreadySince = ready?.status === 'False' ? ready.lastTransitionTime : undefined;
  return (
    containersEnd(pod) ??
    timeOf(unreadySince) ??
    (deletionTimestamp ? Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000 : undefined) ??
    Date.parse(creationTimestamp)
  );
}

/** undefined while one of them has not ended; sidecars end last. */
function containersEnd({ spec, status }: Pod): number | undefined {
  const sidecars = new Set(
    (spec.initContainers ?? []).filter(isRestartableInitContainer).map(({ name }) => name),
  );
  const ends = [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name)),
  ].map(({ state }) => timeOf(state?.terminated?.finishedAt));
  const known = ends.filter((end) => end !== undefined);
  return ends.length > 0 && known.length === ends.length ? Math.max(...known) : undefined;
}

const timeOf = (text: string | undefined): number | undefined => (text ? Date.parse(text) : undefined);

/** Pods that go first when a Job shrinks: not ready ones, then younger ones. */
export const byRemoval = (a: Pod, b: Pod): number =>
  Number(!!a.spec.nodeName) - Number(!!b.spec.nodeName) ||
  Number(isPodReady(a)) - Number(isPodReady(b)) ||
  (b.metadata.creationTimestamp ?? '').localeCompare(a.metadata.creationTimestamp ?? '');

/** A Pod of the Job, for one index where it is Indexed. Source: job controller podGenerateNameWithIndex, addEnvVars. */
export function jobPod(job: Job, index?: IndexSlot): Creatable<Pod> {
  const pod = podFromTemplate({
    owner: job,
    controllerRef: controllerRefOf(job, Jobs),
    template: job.spec.template,
  });
  const finalizers = [...(pod.metadata.finalizers ?? []), trackingFinalizer];
  if (!index) return { ...pod, metadata: { ...pod.metadata, finalizers } };
  const number = String(index.number);
  const env = {
    name: 'JOB_COMPLETION_INDEX',
    valueFrom: { fieldRef: { fieldPath: `metadata.labels['${indexKey}']` } },
  };
  const withEnv = <C extends { env?: Array<{ name: string }> }>(container: C): C =>
    container.env?.some((e) => e.name === env.name)
      ? container
      : { ...container, env: [...(container.env ?? []), env] };
  const prefix = `${job.metadata.name}-${number}`;
  return {
    metadata: {
      ...pod.metadata,
      generateName: `${prefix.slice(0, 57)}-`,
      finalizers,
      labels: { ...pod.metadata.labels, [indexKey]: number },
      annotations: {
        ...pod.metadata.annotations,
        [indexKey]: number,
        ...(job.spec.backoffLimitPerIndex !== undefined ? { [failureCountKey]: String(index.failures) } : {}),
        ...(index.ignored ? { [ignoredFailureCountKey]: String(index.ignored) } : {}),
      },
    },
    spec: {
      ...pod.spec,
      hostname: pod.spec.hostname ?? prefix,
      containers: pod.spec.containers.map(withEnv),
      ...(pod.spec.initContainers ? { initContainers: pod.spec.initContainers.map(withEnv) } : {}),
    },
  };
}
