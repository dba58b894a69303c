import { maxNodeScore, type Handle, type PluginFactory } from '../framework/types';
import type { NodeInfo } from '../cache/node-info';

const name = 'ImageLocality';
const mebibyte = 1024 * 1024;
/** Images smaller than this count for nothing; a container's images count for at most `maxPerContainer`. */
const minThreshold = 23 * mebibyte;
const maxPerContainer = 1000 * mebibyte;

/** `nginx` → `docker.io/library/nginx:latest` would be the runtime's business; a missing tag means latest. */
function normalized(image: string): string {
  return image.lastIndexOf(':') <= image.lastIndexOf('/') && !image.includes('@') ? `${image}:latest` : image;
}

/** Prefers nodes that have the Pod's images; images that many nodes have count more, so that no node is flooded. */
export const imageLocality: PluginFactory = {
  name,
  create: (_args, handle) => ({
    name,
    score(_state, pod, node) {
      const containers = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
      const sum = containers.reduce(
        (total, { image = '' }) => total + scaledSize(normalized(image), node, handle),
        0,
      );
      const max = maxPerContainer * containers.length;
      const clamped = Math.min(Math.max(sum, minThreshold), max);
      return Math.trunc((maxNodeScore * (clamped - minThreshold)) / (max - minThreshold));
    },
  }),
};

function scaledSize(image: string, node: NodeInfo, handle: Handle): number {
  const size = node.images.get(image);
  if (size === undefined) return 0;
  const snapshot = handle.snapshot();
  return Math.trunc(size * (snapshot.nodesWithImage(image) / snapshot.nodes.length));
}
