import type { KubeObject, Namespace } from '@tinkernetes/api';
import type { SubresourceRules } from '../../contracts';
import type { ServedResource } from './served-resource';

const rules = <T extends KubeObject>(r: SubresourceRules<T>): SubresourceRules =>
  r as unknown as SubresourceRules;

const finalize = rules<Namespace>({
  prepareForUpdate: (object, old) => ({
    ...old,
    metadata: object.metadata,
    spec: { ...old.spec, finalizers: object.spec?.finalizers },
  }),
});

/** What each subresource may change where its kind has no rules of its own, by `group/resource/subresource`. */
const general: ReadonlyMap<string, SubresourceRules> = new Map([['/namespaces/finalize', finalize]]);

export function subresourceRules(
  { descriptor, strategy }: ServedResource,
  subresource: string,
): SubresourceRules | undefined {
  return (
    strategy.subresources?.[subresource] ??
    general.get(`${descriptor.group}/${descriptor.resource}/${subresource}`)
  );
}
