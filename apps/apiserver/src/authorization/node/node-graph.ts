import { Pods, PersistentVolumeClaims, PersistentVolumes, VolumeAttachments } from '@tinkernetes/api';
import type { PersistentVolume, Pod, ResourceDescriptor, KubeObject } from '@tinkernetes/api';
import type { ResourceStore, StoreRegistry } from '../../contracts';

/** What a Pod refers to: `secrets/NAME`, `configmaps/NAME`, `persistentvolumeclaims/NAME`, `serviceaccounts/NAME`, `resourceclaims/NAME`. */
type References = ReadonlySet<string>;

const noPods: ReadonlyMap<string, Pod> = new Map();

/**
 * Which node may know which objects: those that Pods on it refer to.
 * Source: k8s.io/kubernetes/plugin/pkg/auth/authorizer/node.Graph.
 */
export class NodeGraph {
  private readonly podsOfNode = new Map<string, Map<string, Pod>>();
  private readonly references = new WeakMap<Pod, References>();

  private started = false;

  constructor(private readonly stores: StoreRegistry) {}

  /** With the first kubelet's request: the caches are full by then. */
  private start(): void {
    this.started = true;
    const pods = this.stores.for(Pods);
    pods.onChange(({ type, object, old }) => {
      if (old && old.spec?.nodeName !== object.spec?.nodeName) this.removePod(old);
      if (type === 'DELETED') this.removePod(object);
      else this.addPod(object);
    });
    for (const pod of pods.list()) this.addPod(pod);
  }

  hasPod(nodeName: string, namespace: string, name: string): boolean {
    return this.podsOn(nodeName).has(`${namespace}/${name}`);
  }

  /** Whether a Pod on the node refers to the object, itself or through its volumes. */
  refersTo(nodeName: string, resource: string, target: { namespace: string; name: string }): boolean {
    const wanted = `${resource}/${target.name}`;
    for (const pod of this.podsOn(nodeName).values()) {
      if (pod.metadata.namespace === target.namespace && this.referencesOf(pod).has(wanted)) return true;
    }
    return resource === 'secrets' && this.volumeSecretOf(nodeName, target);
  }

  /** A PersistentVolume whose claim a Pod on the node uses. */
  usesVolume(nodeName: string, name: string): boolean {
    const volume = this.peek(PersistentVolumes, name);
    const claim = volume?.spec?.claimRef;
    return Boolean(
      claim &&
      this.refersTo(nodeName, 'persistentvolumeclaims', {
        namespace: claim.namespace ?? '',
        name: claim.name ?? '',
      }),
    );
  }

  attachmentNode(name: string): string | undefined {
    return this.peek(VolumeAttachments, name)?.spec?.nodeName;
  }

  private volumeSecretOf(nodeName: string, target: { namespace: string; name: string }): boolean {
    const claims = this.stores.for(PersistentVolumeClaims);
    for (const pod of this.podsOn(nodeName).values()) {
      for (const reference of this.referencesOf(pod)) {
        const [resource, name = ''] = reference.split('/');
        if (resource !== 'persistentvolumeclaims') continue;
        const volumeName = claims.peek(name, pod.metadata.namespace)?.spec?.volumeName;
        const volume = volumeName ? this.peek(PersistentVolumes, volumeName) : undefined;
        if (volume && volumeSecrets(volume).has(`${target.namespace}/${target.name}`)) return true;
      }
    }
    return false;
  }

  private peek<T extends KubeObject>(descriptor: ResourceDescriptor<T>, name: string): T | undefined {
    const store: ResourceStore<T> = this.stores.for(descriptor);
    return store.peek(name);
  }

  private podsOn(nodeName: string): ReadonlyMap<string, Pod> {
    if (!this.started) this.start();
    return this.podsOfNode.get(nodeName) ?? noPods;
  }

  private addPod(pod: Pod): void {
    const nodeName = pod.spec?.nodeName;
    if (!nodeName) return;
    let pods = this.podsOfNode.get(nodeName);
    if (!pods) this.podsOfNode.set(nodeName, (pods = new Map()));
    pods.set(keyOf(pod), pod);
  }

  private removePod(pod: Pod): void {
    const nodeName = pod.spec?.nodeName ?? '';
    const pods = this.podsOfNode.get(nodeName);
    pods?.delete(keyOf(pod));
    if (pods?.size === 0) this.podsOfNode.delete(nodeName);
  }

  private referencesOf(pod: Pod): References {
    let references = this.references.get(pod);
    if (!references) this.references.set(pod, (references = podReferences(pod)));
    return references;
  }
}

const keyOf = ({ metadata }: Pod): string => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;

/** Exported for its table test. Source: k8s.io/kubernetes/pkg/api/v1/pod.Visit{PodSecret,PodConfigmap}Names. */
export function podReferences(pod: Pod): References {
  const out = new Set<string>();
  const add = (resource: string, name: string | undefined) => name && out.add(`${resource}/${name}`);
  const { spec } = pod;
  if (!spec) return out;
  add('serviceaccounts', spec.serviceAccountName);
  for (const secret of spec.imagePullSecrets ?? []) add('secrets', secret.name);
  const containers = [
    ...(spec.initContainers ?? []),
    ...spec.containers,
    ...(spec.ephemeralContainers ?? []),
  ];
  for (const container of containers) {
    for (const { valueFrom } of container.env ?? []) {
      add('secrets', valueFrom?.secretKeyRef?.name);
      add('configmaps', valueFrom?.configMapKeyRef?.name);
    }
    for (const from of container.envFrom ?? []) {
      add('secrets', from.secretRef?.name);
      add('configmaps', from.configMapRef?.name);
    }
  }
  for (const volume of spec.volumes ?? []) {
    add('secrets', volume.secret?.secretName);
    add('configmaps', volume.configMap?.name);
    add('persistentvolumeclaims', volume.persistentVolumeClaim?.claimName);
    if (volume.ephemeral) add('persistentvolumeclaims', `${pod.metadata.name ?? ''}-${volume.name}`);
    add('secrets', volume.csi?.nodePublishSecretRef?.name);
    for (const source of volume.projected?.sources ?? []) {
      add('secrets', source.secret?.name);
      add('configmaps', source.configMap?.name);
    }
    for (const secretRef of [
      volume.azureFile && { name: volume.azureFile.secretName },
      volume.cephfs?.secretRef,
      volume.cinder?.secretRef,
      volume.flexVolume?.secretRef,
      volume.iscsi?.secretRef,
      volume.rbd?.secretRef,
      volume.scaleIO?.secretRef,
      volume.storageos?.secretRef,
    ]) {
      add('secrets', secretRef?.name);
    }
  }
  for (const status of pod.status?.resourceClaimStatuses ?? [])
    add('resourceclaims', status.resourceClaimName);
  for (const claim of spec.resourceClaims ?? []) add('resourceclaims', claim.resourceClaimName);
  return out;
}

function volumeSecrets({ spec }: PersistentVolume): ReadonlySet<string> {
  const references = [
    spec?.csi?.nodePublishSecretRef,
    spec?.csi?.nodeStageSecretRef,
    spec?.csi?.nodeExpandSecretRef,
    spec?.cephfs?.secretRef,
    spec?.rbd?.secretRef,
    spec?.flexVolume?.secretRef,
    spec?.iscsi?.secretRef,
    spec?.scaleIO?.secretRef,
  ];
  return new Set(references.flatMap((r) => (r?.name ? [`${r.namespace ?? ''}/${r.name}`] : [])));
}
