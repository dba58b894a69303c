import type { ConfigMap, Namespace } from '@tinkernetes/api';

export const configMapName = 'kube-root-ca.crt';
const descriptionAnnotation = 'kubernetes.io/description';
const description =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.';

/** A namespace that is on its way takes no new objects. */
export const isPublishedIn = (namespace: Namespace | undefined): namespace is Namespace =>
  namespace !== undefined && namespace.status?.phase !== 'Terminating';

/**
 * The ConfigMap as it is to be written; undefined: it is right as it is. Any description will do, as upstream has it.
 * Source: rootcacertpublisher syncNamespace.
 */
export function publishedMap(
  namespace: string,
  current: ConfigMap | undefined,
  rootCa: string,
): ConfigMap | undefined {
  const { data: before = {}, metadata = { name: configMapName, namespace } } = current ?? {};
  const isRight = before['ca.crt'] === rootCa && Object.keys(before).length === 1;
  if (isRight && metadata.annotations?.[descriptionAnnotation]) return undefined;
  const annotations = { ...metadata.annotations, [descriptionAnnotation]: description };
  return { ...current, metadata: { ...metadata, annotations }, data: { 'ca.crt': rootCa } };
}
