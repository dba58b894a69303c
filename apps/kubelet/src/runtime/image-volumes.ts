import type { Container, Pod } from '@tinkernetes/api';
import type { ImageManager, ImageRequest } from '../images/image-manager';
import type { StartError } from './start-error';

/**
 * The images that a Pod's containers mount (KEP-4639), brought to the node once in a sync: by the volume's pull policy,
 * with the Pod's credentials. Source: pkg/kubelet/kuberuntime getImageVolumes.
 */
export class ImageVolumes {
  private readonly pulled = new Map<string, Promise<string>>();

  constructor(
    private readonly pod: Pod,
    private readonly images: Pick<ImageManager, 'ensure'>,
    private readonly request: Pick<ImageRequest, 'sandboxConfig' | 'pullSecrets' | 'traceParent'>,
  ) {}

  /** As the runtime knows them, by what the Pod calls them. Throws StartError where one of the container's is missing. */
  async of(container: Container): Promise<ReadonlyMap<string, string>> {
    const references = new Map<string, string>();
    let failure: StartError | undefined;
    for (const { name, image } of this.pod.spec.volumes ?? []) {
      if (!image || !container.volumeMounts?.some((mount) => mount.name === name)) continue;
      const pull = this.pulled.get(name) ?? this.pull(image);
      this.pulled.set(name, pull);
      await pull.then(
        (imageRef) => references.set(image.reference ?? '', imageRef),
        (error: StartError) => (failure = error),
      );
    }
    if (failure) throw failure;
    return references;
  }

  private async pull({ reference = '', pullPolicy }: { reference?: string; pullPolicy?: string }) {
    const { pod, request } = this;
    const { imageRef } = await this.images.ensure({
      ...request,
      pod,
      image: reference,
      pullPolicy,
      container: undefined,
    });
    return imageRef;
  }
}
