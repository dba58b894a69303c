import type { Container, PodSpec, Volume } from '@tinkernetes/api';

/**
 * The plural resource of an API object that the Pod refers to, if there is one: a static Pod may not, it runs whether or
 * not there is an API server. Source: pkg/api/pod HasAPIObjectReference (PreventStaticPodAPIReferences).
 */
export function apiReference(spec: PodSpec): string | undefined {
  if (spec.serviceAccountName) return 'serviceaccounts';
  const containers = [...spec.containers, ...(spec.initContainers ?? [])];
  const resources = [...containers.flatMap(ofContainer), ...(spec.volumes ?? []).flatMap(ofVolume)];
  if ((spec.imagePullSecrets ?? []).length > 0 || resources.includes('secrets')) return 'secrets';
  if (resources.includes('configmaps')) return 'configmaps';
  if ((spec.resourceClaims ?? []).length > 0) return 'resourceclaims';
  return resources[0];
}

function ofContainer({ env = [], envFrom = [] }: Container): string[] {
  return [
    ...env.flatMap(({ valueFrom }) => [
      ...(valueFrom?.secretKeyRef ? ['secrets'] : []),
      ...(valueFrom?.configMapKeyRef ? ['configmaps'] : []),
    ]),
    ...envFrom.flatMap(({ secretRef, configMapRef }) => [
      ...(secretRef ? ['secrets'] : []),
      ...(configMapRef ? ['configmaps'] : []),
    ]),
  ];
}

function ofVolume(volume: Volume): string[] {
  if (volume.secret || volume.csi?.nodePublishSecretRef) return ['secrets'];
  if (volume.configMap) return ['configmaps'];
  if (volume.persistentVolumeClaim || volume.ephemeral) return ['persistentvolumeclaims'];
  return (volume.projected?.sources ?? []).flatMap((source) => [
    ...(source.secret ? ['secrets'] : []),
    ...(source.configMap ? ['configmaps'] : []),
    ...(source.serviceAccountToken ? ['serviceaccounts'] : []),
    ...(source.clusterTrustBundle ? ['clustertrustbundles'] : []),
  ]);
}
