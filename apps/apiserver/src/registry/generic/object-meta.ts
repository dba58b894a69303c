import type { KubeObject, ObjectMeta } from '@tinkernetes/api';
import { deepEqual, semanticEqual, StatusError } from '@tinkernetes/apimachinery';
import { formatTime, nameSuffix, type Random } from '@tinkernetes/component-base';

/** Names from generateName are cut so that the suffix fits (k8s.io/apiserver/pkg/storage/names). */
const maxNameLength = 63;
const suffixLength = 5;

function generatedName(base: string, random: Random): string {
  return base.slice(0, maxNameLength - suffixLength) + nameSuffix(random, suffixLength);
}

/** What the server decides about a new object's metadata, in upstream's field order. */
export function metadataForCreate(
  meta: ObjectMeta,
  { namespace, random, now }: { namespace: string; random: Random; now: number },
): ObjectMeta {
  if (Number(meta.resourceVersion ?? 0) > 0) {
    throw new StatusError('Unknown', 'resourceVersion should not be set on objects to be created');
  }
  const { name, generateName, namespace: _n, selfLink: _s, uid: _u, resourceVersion: _r, ...rest } = meta;
  const { creationTimestamp: _c, deletionTimestamp: _d, deletionGracePeriodSeconds: _p, ...kept } = rest;
  return {
    name: name || (generateName ? generatedName(generateName, random) : ''),
    ...(generateName ? { generateName } : undefined),
    ...(namespace ? { namespace } : undefined),
    uid: random.uid(),
    creationTimestamp: formatTime(now),
    ...kept,
  };
}

const optional = <K extends keyof ObjectMeta>(key: K, value: ObjectMeta[K]): Partial<ObjectMeta> =>
  value === undefined ? {} : { [key]: value };

/** What an update can't change: identity and deletion state stay as they are. */
export function metadataForUpdate(meta: ObjectMeta, old: ObjectMeta): ObjectMeta {
  const { name, generateName, namespace: _n, selfLink: _s, uid, resourceVersion: _r, ...rest } = meta;
  const {
    generation: _g,
    creationTimestamp: _c,
    deletionTimestamp,
    deletionGracePeriodSeconds,
    ...kept
  } = rest;
  return {
    name,
    ...(generateName === undefined ? undefined : { generateName }),
    ...(old.namespace === undefined ? undefined : { namespace: old.namespace }),
    uid: uid ?? old.uid,
    ...(old.generation === undefined ? undefined : { generation: old.generation }),
    creationTimestamp: old.creationTimestamp,
    // A deletion is neither undone nor put off; only validation looks at one that comes by an update.
    ...optional('deletionTimestamp', old.deletionTimestamp ?? deletionTimestamp),
    ...optional('deletionGracePeriodSeconds', deletionGracePeriodSeconds ?? old.deletionGracePeriodSeconds),
    ...kept,
  };
}

/** Everything but metadata and status, which is what generation counts. */
export function specChanged(a: KubeObject, b: KubeObject, custom: boolean): boolean {
  const rest = (o: KubeObject): object => {
    const {
      metadata: _m,
      status: _s,
      kind: _k,
      apiVersion: _a,
      ...spec
    } = o as KubeObject & { status?: unknown };
    return spec;
  };
  // Only typed objects have fields in which an empty list means none.
  return !(custom ? deepEqual(rest(a), rest(b)) : semanticEqual(rest(a), rest(b)));
}

export function withGeneration(object: KubeObject, generation: number): KubeObject {
  const { name, generateName, namespace, uid, resourceVersion, ...rest } = object.metadata;
  return {
    ...object,
    metadata: {
      name,
      ...(generateName === undefined ? undefined : { generateName }),
      ...(namespace === undefined ? undefined : { namespace }),
      ...(uid === undefined ? undefined : { uid }),
      ...(resourceVersion === undefined ? undefined : { resourceVersion }),
      ...rest,
      generation,
    },
  };
}
