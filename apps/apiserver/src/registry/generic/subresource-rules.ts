import type { CertificateSigningRequest, KubeObject, Namespace, Pod } from '@tinkernetes/api';
import type { SubresourceRules } from '../../contracts';
import { podResize } from './pod-resize';
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

const approval = rules<CertificateSigningRequest>({
  prepareForUpdate: (object, old) => ({
    ...old,
    metadata: object.metadata,
    status: { ...old.status, conditions: object.status?.conditions },
  }),
});

const ephemeralContainers = rules<Pod>({
  prepareForUpdate: (object, old) => ({
    ...old,
    metadata: object.metadata,
    spec: { ...old.spec, ephemeralContainers: object.spec.ephemeralContainers },
  }),
});

/** What each subresource may change where its kind has no rules of its own, by `group/resource/subresource`. */
const general: ReadonlyMap<string, SubresourceRules> = new Map([
  ['/namespaces/finalize', finalize],
  ['certificates.k8s.io/certificatesigningrequests/approval', approval],
  ['/pods/ephemeralcontainers', ephemeralContainers],
  ['/pods/resize', rules(podResize)],
]);

export function subresourceRules(
  { descriptor, strategy }: ServedResource,
  subresource: string,
): SubresourceRules | undefined {
  return (
    strategy.subresources?.[subresource] ??
    general.get(`${descriptor.group}/${descriptor.resource}/${subresource}`)
  );
}
