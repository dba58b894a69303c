import type { StateData } from '../framework/cycle-state';
import { skip } from '../framework/status';
import { maxNodeScore, type PluginFactory } from '../framework/types';

const name = 'ImageLocality';
const mebibyte = 1024 * 1024;
/** Images smaller than this count for nothing; a container's images count for at most `maxPerContainer`. */
const minThreshold = 23 * mebibyte;
const maxPerContainer = 1000 * mebibyte;

/** `nginx` → `docker.io/library/nginx:latest` would be the runtime's business; a missing tag means latest. */
function normalized(image: string): string {
  return image.lastIndexOf(':') <= image.lastIndexOf('/') && !image.includes('@') ? `${image}:latest` : image;
}

/** The Pod's images that some node has, and on which part of the nodes. */
class ImagesState implements StateData {
  constructor(
    readonly spread: ReadonlyMap<string, number>,
    readonly containers: number,
  ) {}

  clone(): ImagesState {
    return this;
  }
}

/** Prefers nodes that have the Pod's images; images that many nodes have count more, so that no node is flooded. */
export const imageLocality: PluginFactory = {
  name,
  create: (_args, handle) => ({
    name,
    preScore(state, pod) {
      const containers = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
      const snapshot = handle.snapshot();
      const spread = new Map<string, number>();
      for (const { image = '' } of containers) {
        const nodes = snapshot.nodesWithImage(normalized(image));
        if (nodes > 0) spread.set(normalized(image), nodes / snapshot.nodes.length);
      }
      if (spread.size === 0) return skip;
      state.write(name, new ImagesState(spread, containers.length));
      return undefined;
    },
    score(state, _pod, node) {
      const images = state.read<ImagesState>(name);
      if (!images) return 0;
      let sum = 0;
      for (const [image, part] of images.spread) sum += Math.trunc((node.images.get(image) ?? 0) * part);
      const max = maxPerContainer * images.containers;
      const clamped = Math.min(Math.max(sum, minThreshold), max);
      return Math.trunc((maxNodeScore * (clamped - minThreshold)) / (max - minThreshold));
    },
  }),
};
