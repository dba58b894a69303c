import type { ContainerImage } from '@tinkernetes/api';
import type { ImageClient, ListImagesResponse } from '@tinkernetes/cri';

/** Of a Node's status. Source: pkg/kubelet/nodestatus Images. */
const maxImages = 50;
const maxNames = 5;

/** The status has to be told also while the runtime hangs, above all that it does. */
const timeoutMs = 2000;

/** The node's images as its status shows them, the largest first; those last seen while the runtime does not answer. */
export class NodeImages {
  private last: ContainerImage[] = [];

  constructor(private readonly images: Pick<ImageClient, 'listImages'>) {}

  async list(): Promise<ContainerImage[]> {
    const answer = await this.images.listImages({}, { timeoutMs }).catch(() => undefined);
    if (answer) this.last = shown(answer);
    return this.last;
  }
}

function shown(answer: ListImagesResponse): ContainerImage[] {
  return answer.images
    .map((image) => ({
      names: [...image.repoDigests, ...image.repoTags].slice(0, maxNames),
      sizeBytes: image.size,
    }))
    .sort((a, b) => b.sizeBytes - a.sizeBytes)
    .slice(0, maxImages);
}
