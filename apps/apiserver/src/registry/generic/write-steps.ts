import type { KubeObject } from '@tinkernetes/api';
import { invalidError } from '@tinkernetes/apimachinery';
import type { FieldErrors, StrategyContext } from '../../contracts';
import { trackManagedFields } from './field-tracking';
import type { StoredObjects } from './stored-objects';
import type { WriteContext } from './write-context';

// What creates and updates have in common: the steps of a write, in the order in which they come.

export const withDefaults = ({ strategy }: StoredObjects, object: KubeObject): KubeObject =>
  strategy.default?.(object) ?? object;

/** Each owner once; the client is told when it named one twice. Source: k8s.io/apiserver/pkg/endpoints/handlers. */
export function withUniqueOwners(object: KubeObject, context: WriteContext): KubeObject {
  const owners = object.metadata.ownerReferences;
  if (!owners || owners.length < 2) return object;
  const byUid = new Map(owners.map((owner) => [owner.uid, owner]));
  if (byUid.size === owners.length) return object;
  const repeated = new Set(owners.filter((owner) => byUid.get(owner.uid) !== owner).map(({ uid }) => uid));
  context.warn(
    `.metadata.ownerReferences contains duplicate entries${context.dedupsLate ? ' after mutating admission happens' : ''}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${[...repeated].join(', ')}`,
  );
  return { ...object, metadata: { ...object.metadata, ownerReferences: [...byUid.values()] } };
}

/** Ownership counts what the request brought: before admission and before the strategy's own changes. */
export const tracked = (
  { runtime }: StoredObjects,
  live: KubeObject | undefined,
  next: KubeObject,
  context: WriteContext,
): KubeObject => trackManagedFields(live, next, context, runtime.clock.now());

/** After mutating admission. */
export async function mutated(
  store: StoredObjects,
  object: KubeObject,
  old: KubeObject | undefined,
  context: WriteContext,
): Promise<KubeObject> {
  const { mutate, measure } = context;
  if (!mutate) return object;
  const work = () => mutate(object, old);
  const changed = await (measure?.('apiserver.admission', work) ?? work());
  // What came in has its defaults already.
  return changed === object ? object : withDefaults(store, changed);
}

export const strategyContext = ({ runtime }: StoredObjects, context: WriteContext): StrategyContext => ({
  user: context.user,
  namespace: context.namespace,
  apiVersion: context.apiVersion,
  now: runtime.clock.now(),
  warn: (message) => context.warn(message),
});

/** Throws Invalid with all the errors. */
export function check({ descriptor }: StoredObjects, object: KubeObject, errors: FieldErrors): void {
  if (errors.length === 0) return;
  const { group, kind } = descriptor;
  throw invalidError({ group, kind }, object.metadata.name, errors);
}

export function warn(
  { strategy }: StoredObjects,
  object: KubeObject,
  old: KubeObject | undefined,
  context: WriteContext,
): void {
  for (const warning of strategy.warnings?.(object, old) ?? []) context.warn(warning);
}

/** Admission and strategies may have added parts that are not yet in the form in which objects are kept. */
export function canonical({ options: { codec } }: StoredObjects, object: KubeObject): KubeObject {
  return codec.schemaName ? codec.decode(object).object : object;
}
