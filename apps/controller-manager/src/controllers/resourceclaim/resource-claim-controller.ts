import {
  Pods,
  ResourceClaims,
  ResourceClaimTemplates,
  type Pod,
  type PodResourceClaim,
  type ResourceV1ResourceClaim as ResourceClaim,
} from '@tinkernetes/api';
import { controllerOf, isPodTerminal, keyOf } from '@tinkernetes/apimachinery';
import type { Client } from '@tinkernetes/client';
import type { Counter } from '@tinkernetes/component-base';
import type { Reconciler } from '@tinkernetes/controller';
import type { EventRecorder } from '@tinkernetes/controller';
import type { Lister } from '@tinkernetes/informers';
import type { ResourceClaimTemplate } from '@tinkernetes/api';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { settleConsumers } from './consumers';
import { isAdminAccess, registerClaimMetrics } from './claim-metrics';
import { claimFor, claimNameOf, entryAnnotation, isOwnedBy } from './pod-claims';

const podPrefix = 'pod:';
const claimPrefix = 'claim:';
const ownerIndex = 'podUid';
const templateIndex = 'claimTemplate';

/**
 * Makes the ResourceClaims that Pods ask for by template, says on the Pod what they are called, and keeps the claims'
 * `reservedFor` true: Pods that are done use nothing, and a claim that nobody uses loses its allocation. Watches Pods,
 * claims and templates; writes claims and the Pods' status.
 * Source: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
 */
export function startResourceClaimController(context: ControllerContext): RunnableController {
  const { client, informers, recorder } = context;
  const queue = context.queues.create('resource_claim');
  const pods = informers.for(Pods);
  const claims = informers.for(ResourceClaims);
  const templates = informers.for(ResourceClaimTemplates);
  claims.addIndex(ownerIndex, (claim) => {
    const owner = controllerOf(claim);
    return owner?.kind === 'Pod' ? [owner.uid] : [];
  });
  pods.addIndex(templateIndex, (pod) =>
    (pod.spec.resourceClaims ?? []).flatMap(({ resourceClaimTemplateName: template }) =>
      template ? [`${pod.metadata.namespace ?? ''}/${template}`] : [],
    ),
  );
  const enqueueClaim = (claim: ResourceClaim) => queue.add(claimPrefix + keyOf(claim));
  /** What a Pod uses must be looked at when it comes, and when it is done. */
  const enqueuePod = (pod: Pod, isGone: boolean) => {
    const entries = pod.spec.resourceClaims ?? [];
    if (entries.length === 0) return;
    if (!isGone && !isPodTerminal(pod) && !pod.metadata.deletionTimestamp) queue.add(podPrefix + keyOf(pod));
    else
      for (const entry of entries) {
        const name = claimNameOf(pod, entry);
        if (name) queue.add(`${claimPrefix}${pod.metadata.namespace ?? ''}/${name}`);
      }
  };
  pods.addEventHandler({
    added: (pod) => enqueuePod(pod, false),
    updated: (_, pod) => enqueuePod(pod, false),
    deleted: (pod) => enqueuePod(pod, true),
  });
  claims.addEventHandler({
    added: enqueueClaim,
    updated: (_, claim) => enqueueClaim(claim),
    deleted(claim) {
      // A Pod whose claim went away needs another one.
      const owner = controllerOf(claim);
      if (owner?.kind === 'Pod') queue.add(`${podPrefix}${claim.metadata.namespace ?? ''}/${owner.name}`);
    },
  });
  templates.addEventHandler({
    added: (template) =>
      pods.lister.byIndex(templateIndex, keyOf(template)).forEach((pod) => enqueuePod(pod, false)),
  });
  const creations = registerClaimMetrics(context.metrics, claims.lister);
  const deps = { client, recorder, creations, claims: claims.lister, templates: templates.lister };
  const reconciler: Reconciler = {
    name: 'resourceclaim-controller',
    async reconcile(key, { signal }) {
      if (key.startsWith(podPrefix)) {
        const pod = pods.lister.getByKey(key.slice(podPrefix.length));
        if (pod && !pod.metadata.deletionTimestamp && !isPodTerminal(pod))
          await equipPod(pod, { ...deps, signal });
        return;
      }
      const claim = claims.lister.getByKey(key.slice(claimPrefix.length));
      if (claim) await settleConsumers(claim, { client, pods: pods.lister, signal });
    },
  };
  return queueController({
    context,
    queue,
    reconciler,
    concurrency: context.flags['concurrent-resource-claim-syncs'],
  });
}

interface EquipDeps {
  client: Client;
  recorder: EventRecorder;
  creations: Counter;
  claims: Lister<ResourceClaim>;
  templates: Lister<ResourceClaimTemplate>;
  signal: AbortSignal;
}

/** Makes the claims that the Pod lacks. */
async function equipPod(pod: Pod, deps: EquipDeps): Promise<void> {
  const { name, namespace, uid } = pod.metadata;
  const made: { name: string; resourceClaimName: string }[] = [];
  for (const entry of pod.spec.resourceClaims ?? []) {
    try {
      const claim = await ensureClaim(pod, entry, deps);
      if (claim) made.push({ name: entry.name, resourceClaimName: claim });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const message = `PodResourceClaim ${entry.name}: ${reason}`;
      deps.recorder.event(
        { ...pod, apiVersion: 'v1', kind: 'Pod' },
        'Warning',
        'FailedResourceClaimCreation',
        message,
      );
      throw error;
    }
  }
  if (made.length > 0)
    await deps.client
      .for(Pods)
      .patch(
        name,
        { metadata: { uid }, status: { resourceClaimStatuses: made } },
        { type: 'strategic', subresource: 'status', namespace, signal: deps.signal },
      );
  if (pod.spec.nodeName) await reserveForBound(pod, deps);
}

/** The name of the claim that was made or found; undefined: the Pod has it already, or needs none. */
async function ensureClaim(
  pod: Pod,
  entry: PodResourceClaim,
  { client, creations, claims, templates, signal }: EquipDeps,
): Promise<string | undefined> {
  const { resourceClaimTemplateName: templateName } = entry;
  if (!templateName) return undefined;
  const { namespace } = pod.metadata;
  const known = claimNameOf(pod, entry);
  const current = known ? claims.get(known, namespace) : undefined;
  if (current && isOwnedBy(current, pod)) return undefined;
  // Made before, when the Pod's status could not be written.
  const orphan = claims
    .byIndex(ownerIndex, pod.metadata.uid ?? '')
    .find(
      ({ metadata }) => metadata.annotations?.[entryAnnotation] === entry.name && !metadata.deletionTimestamp,
    );
  if (orphan) return orphan.metadata.name === known ? undefined : orphan.metadata.name;
  const template = templates.get(templateName, namespace);
  if (!template)
    throw new Error(
      `resource claim template "${templateName}": resourceclaimtemplate.resource.k8s.io "${templateName}" not found`,
    );
  const wanted = claimFor(pod, entry.name, template);
  const note = (status: 'success' | 'failure') =>
    creations.inc({ status, admin_access: String(isAdminAccess(wanted)) });
  try {
    const created = await client.for(ResourceClaims).create(wanted, { namespace, signal });
    note('success');
    return created.metadata.name;
  } catch (error) {
    note('failure');
    throw error;
  }
}

/** A Pod that was placed without the scheduler may use what is allocated already. */
async function reserveForBound(pod: Pod, { client, claims, signal }: EquipDeps): Promise<void> {
  const { name, namespace, uid = '' } = pod.metadata;
  for (const entry of pod.spec.resourceClaims ?? []) {
    const claim = claims.get(claimNameOf(pod, entry) ?? '', namespace);
    const reservedFor = claim?.status?.reservedFor ?? [];
    if (!claim?.status?.allocation || reservedFor.some((reference) => reference.uid === uid)) continue;
    const status = { ...claim.status, reservedFor: [...reservedFor, { resource: 'pods', name, uid }] };
    await client.for(ResourceClaims).updateStatus({ ...claim, status }, { signal });
  }
}
