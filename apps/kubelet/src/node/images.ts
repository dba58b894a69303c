import type { ContainerImage } from '@tinkernetes/api';
import type { ImageClient } from '@tinkernetes/cri';

/** Of a Node's status. Source: pkg/kubelet/nodestatus Images. */
const maxImages = 50;
const maxNames = 5;

/** The node's images as its status shows them, the largest first. */
export async function nodeImages(images: ImageClient): Promise<ContainerImage[]> {
  const answer = await images.listImages();
  return answer.images
    .map((image) => ({
      names: [...image.repoDigests, ...image.repoTags].slice(0, maxNames),
      sizeBytes: image.size,
    }))
    .sort((a, b) => b.sizeBytes - a.sizeBytes)
    .slice(0, maxImages);
}
