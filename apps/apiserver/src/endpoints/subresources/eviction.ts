import { Pods } from '@tinkernetes/api';
import type {
  DeleteOptions,
  Eviction,
  KubeObject,
  Pod,
  PodCondition,
  PodDisruptionBudget,
} from '@tinkernetes/api';
import { badRequest, isNotFound, selectorOf, StatusError } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import { builtInCodec } from '../../codec/object-codec';
import { checkPreconditions, deleteObject } from '../../registry/generic/deletion';
import { sendValue } from '../answer';
import type { Endpoint, EndpointContext, ResourceRequest } from '../context';
import { storeOf } from '../context';
import { checkNamespace } from '../create';
import { checkDeleteOptions } from '../delete-options';
import { readTypedObject } from '../read-object';
import { writeContext } from '../write-context';
import { writeQuery } from '../write-options';

const descriptor = { group: 'policy', version: 'v1', kind: 'Eviction' };

/** Upstream asks clients to come back after this long. */
const retryAfterSeconds = 10;

/**
 * POST of `pods/{name}/eviction`: a deletion that a PodDisruptionBudget may refuse.
 * Source: https://kubernetes.io/docs/concepts/scheduling-eviction/api-eviction/
 */
export const eviction: Endpoint = async (context, request) => {
  const query = writeQuery(request, 'CreateOptions');
  const given = (await readTypedObject(context, request, {
    codec: builtInCodec(descriptor),
    target: 'policy.Eviction',
    fieldValidation: query.fieldValidation,
  })) as Eviction & KubeObject;
  const { name } = request.info;
  const { namespace } = request;
  checkNamespace(given.metadata.namespace, namespace);
  if (given.metadata.name !== name) throw badRequest('name in URL does not match name in Eviction object');
  const store = storeOf(request);
  const { object } = await store.entry(name, namespace);
  const pod = object as Pod;
  const options: DeleteOptions = given.deleteOptions ?? {};
  checkDeleteOptions(options);
  const dryRun = query.dryRun || (options.dryRun ?? []).length > 0;
  if (!canIgnoreBudgets(pod)) await chargeBudget(context, request, pod, dryRun);
  const evicted = dryRun ? options : await markEvicted(context, pod, options);
  const write = writeContext(context, request, { operation: 'DELETE', query: { dryRun, fieldManager: '' } });
  await deleteObject(store, { name, namespace }, evicted, write);
  sendValue(request, 201, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
};

/** Until it is gone, the Pod says why it has to go. Source: pkg/registry/core/pod/storage.addConditionAndDeletePod. */
async function markEvicted(
  { table, clock }: EndpointContext,
  pod: Pod,
  options: DeleteOptions,
): Promise<DeleteOptions> {
  const { name, namespace } = pod.metadata;
  const { metadata } = await table.for(Pods).modify(name, namespace, (current) => {
    checkPreconditions({ descriptor: Pods }, current, options.preconditions);
    return withCondition(current, {
      type: 'DisruptionTarget',
      status: 'True',
      lastTransitionTime: formatTime(clock.now()),
      reason: 'EvictionByEvictionAPI',
      message: 'Eviction API: evicting',
    });
  });
  if (!options.preconditions?.resourceVersion) return options;
  // The version that was asked for has just been seen; the condition has made a new one of it.
  const { resourceVersion } = metadata;
  return { ...options, preconditions: { ...options.preconditions, resourceVersion } };
}

function withCondition(pod: Pod, condition: PodCondition): Pod {
  const conditions = pod.status?.conditions ?? [];
  const isThere = conditions.some(
    ({ type, status }) => type === condition.type && status === condition.status,
  );
  if (isThere) return pod;
  const others = conditions.filter(({ type }) => type !== condition.type);
  return { ...pod, status: { ...pod.status, conditions: [...others, condition] } };
}

/** Pods that run nothing, or not any more, disrupt nobody. */
function canIgnoreBudgets({ status, metadata }: Pod): boolean {
  const phase = status?.phase ?? 'Pending';
  return (
    phase === 'Succeeded' ||
    phase === 'Failed' ||
    phase === 'Pending' ||
    metadata.deletionTimestamp !== undefined
  );
}

async function chargeBudget(
  context: EndpointContext,
  request: ResourceRequest,
  pod: Pod,
  dryRun: boolean,
): Promise<void> {
  const budgets = budgetsOf(context, pod);
  if (budgets.length === 0) return;
  const [budget] = budgets;
  if (budgets.length > 1 || !budget) {
    throw new StatusError(
      'Unknown',
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    );
  }
  const isReady = (pod.status?.conditions ?? []).some(
    ({ type, status }) => type === 'Ready' && status === 'True',
  );
  const { currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {};
  const ignoresUnhealthy =
    !isReady &&
    (budget.spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow' ||
      (currentHealthy >= desiredHealthy && desiredHealthy > 0));
  if (ignoresUnhealthy) return;
  await charge(context, request, { budget, pod, dryRun });
}

function budgetsOf({ table }: EndpointContext, pod: Pod): PodDisruptionBudget[] {
  const store = table.find('policy', 'poddisruptionbudgets');
  const all = (store?.list(pod.metadata.namespace) ?? []) as PodDisruptionBudget[];
  return all.filter(({ spec }) => selectorOf(spec?.selector).matches(pod.metadata.labels));
}

async function charge(
  { table, clock }: EndpointContext,
  _request: ResourceRequest,
  { budget, pod, dryRun }: { budget: PodDisruptionBudget; pod: Pod; dryRun: boolean },
): Promise<void> {
  const store = table.find('policy', 'poddisruptionbudgets');
  const { name, namespace } = budget.metadata;
  const now = formatTime(clock.now());
  try {
    await store?.modify(
      name,
      namespace,
      (current) => charged(current as PodDisruptionBudget, pod.metadata.name, now),
      { dryRun, fieldManager: 'kube-apiserver', subresource: 'status' },
    );
  } catch (error) {
    // The budget went away meanwhile: nothing is left to protect.
    if (!isNotFound(error)) throw error;
  }
}

/** The budget with one disruption less to give; throws 429 when it has none. */
export function charged(budget: PodDisruptionBudget, podName: string, now: string): PodDisruptionBudget {
  const { name, generation = 0 } = budget.metadata;
  const status = budget.status ?? {
    disruptionsAllowed: 0,
    currentHealthy: 0,
    desiredHealthy: 0,
    expectedPods: 0,
  };
  if ((status.observedGeneration ?? 0) < generation) {
    throw refused(`The disruption budget ${name} is still being processed by the server.`, retryAfterSeconds);
  }
  const { disruptionsAllowed = 0 } = status;
  if (disruptionsAllowed < 0) throw refused('pdb disruptions allowed is negative');
  if (disruptionsAllowed === 0) {
    throw refused(
      `The disruption budget ${name} needs ${status.desiredHealthy} healthy pods and has ${status.currentHealthy} currently`,
    );
  }
  const left = disruptionsAllowed - 1;
  return {
    ...budget,
    status: {
      ...status,
      disruptionsAllowed: left,
      disruptedPods: { ...status.disruptedPods, [podName]: now },
      conditions: left === 0 ? withoutDisruptions(budget, now) : status.conditions,
    },
  };
}

function withoutDisruptions({ status, metadata }: PodDisruptionBudget, now: string) {
  const type = 'DisruptionAllowed';
  const others = (status?.conditions ?? []).filter((c) => c.type !== type);
  return [
    ...others,
    {
      type,
      status: 'False' as const,
      observedGeneration: metadata.generation,
      lastTransitionTime: now,
      reason: 'InsufficientPods',
      message: '',
    },
  ];
}

/** Clients wait and ask again by themselves only where time is given: for a budget that is used up they are told. */
const refused = (message: string, retryAfter?: number): StatusError =>
  new StatusError('TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    details: {
      causes: [{ reason: 'DisruptionBudget', message }],
      ...(retryAfter === undefined ? {} : { retryAfterSeconds: retryAfter }),
    },
  });
