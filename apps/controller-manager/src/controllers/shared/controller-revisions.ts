import {
  ControllerRevisions,
  type ControllerRevision,
  type KubeObject,
  type PodTemplateSpec,
  type ResourceDescriptor,
} from '@tinkernetes/api';
import { controllerOf, ignoreNotFound, isAlreadyExists, type Selector } from '@tinkernetes/apimachinery';
import { claimChildren, controllerRefOf, type ClaimOptions } from '@tinkernetes/controller';
import type { Client } from '@tinkernetes/client';
import { canonicalContent, contentHash } from './content-hash';

export const revisionHashLabel = 'controller-revision-hash';

export type ClaimRevisions<O extends KubeObject> = Omit<ClaimOptions<ControllerRevision, O>, 'matches'> & {
  readonly selector: Selector;
};

/**
 * The revisions that an owner controls, and those that one before it of the same name left to nobody: where its Pods
 * are taken over, so is what they were made from. None is let go.
 */
export const claimRevisions = <O extends KubeObject>({
  selector,
  ...options
}: ClaimRevisions<O>): Promise<ControllerRevision[]> =>
  claimChildren({
    ...options,
    matches: (revision) => controllerOf(revision) !== undefined || selector.matches(revision.metadata.labels),
  });

/** A template as a ControllerRevision keeps it: a strategic merge patch that puts it back. */
const revisionData = (template: PodTemplateSpec): object => ({
  spec: { template: { ...template, $patch: 'replace' } },
});

/** The template in a revision, as it was. */
export function templateOf(revision: ControllerRevision): PodTemplateSpec {
  const data = revision.data as { spec?: { template?: PodTemplateSpec & { $patch?: string } } } | undefined;
  const { $patch: _, ...template } = data?.spec?.template ?? {};
  return template;
}

const byRevision = (a: ControllerRevision, b: ControllerRevision): number =>
  a.revision - b.revision || a.metadata.name.localeCompare(b.metadata.name);

const sameData = (a: ControllerRevision, b: ControllerRevision): boolean =>
  canonicalContent(a.data) === canonicalContent(b.data);

export interface RevisionOwner {
  owner: KubeObject;
  descriptor: ResourceDescriptor<unknown>;
  template: PodTemplateSpec;
  collisionCount: number;
}

/**
 * The revision of the present template: numbered after `existing`, or an earlier one made the newest again. When
 * another template has its name, one is counted up, until there is a free name.
 */
export async function ensureRevision(
  client: Client,
  existing: readonly ControllerRevision[],
  owner: RevisionOwner,
): Promise<{ update: ControllerRevision; collisionCount: number }> {
  for (let { collisionCount } = owner; ; collisionCount++) {
    const update = await tryRevision(client, existing, { ...owner, collisionCount });
    if (update) return { update, collisionCount };
  }
}

/** undefined: its name belongs to another template. */
async function tryRevision(
  client: Client,
  existing: readonly ControllerRevision[],
  { owner, descriptor, template, collisionCount }: RevisionOwner,
): Promise<ControllerRevision | undefined> {
  const { namespace, name } = owner.metadata;
  const sorted = [...existing].sort(byRevision);
  const newest = sorted.at(-1);
  const revision = (newest?.revision ?? 0) + 1;
  const hash = contentHash(template, collisionCount);
  const wanted: ControllerRevision = {
    metadata: {
      name: `${name}-${hash}`,
      namespace,
      labels: { ...template.metadata?.labels, [revisionHashLabel]: hash },
      // `kubectl rollout history` reads the cause of a change here.
      ...(owner.metadata.annotations ? { annotations: owner.metadata.annotations } : {}),
      ownerReferences: [controllerRefOf(owner, descriptor)],
    },
    data: revisionData(template) as ControllerRevision['data'],
    revision,
  };
  const revisions = client.for(ControllerRevisions);
  const equal = sorted.filter((r) => sameData(r, wanted)).at(-1);
  if (equal) return equal === newest ? equal : revisions.update({ ...equal, revision }, { namespace });
  try {
    return await revisions.create(wanted, { namespace, trace: client.traceOf(owner) });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const present = await revisions.get(wanted.metadata.name, { namespace });
    return sameData(present, wanted) ? present : undefined;
  }
}

/** Deletes the oldest revisions beyond `limit` that nothing uses. */
export async function truncateHistory(
  client: Client,
  revisions: readonly ControllerRevision[],
  { limit, inUse }: { limit: number; inUse: ReadonlySet<string> },
): Promise<void> {
  const idle = revisions.filter((r) => !inUse.has(r.metadata.name)).sort(byRevision);
  for (const { metadata } of idle.slice(0, Math.max(0, idle.length - limit))) {
    await client
      .for(ControllerRevisions)
      .delete(metadata.name, { namespace: metadata.namespace })
      .catch(ignoreNotFound);
  }
}
