import type { StepTracer } from '@tinkernetes/component-base';
import type { ImageFilter, ImageHandlers } from '@tinkernetes/cri';
import type { ImageStore } from '../images/image-store';
import type { Stats } from './stats';
import { imageView } from './views';

/** runtime.v1.ImageService over the node's images. */
export function imageService(
  images: ImageStore,
  stats: Stats,
  { tracer, nodeName }: { tracer: StepTracer; nodeName: string },
): ImageHandlers {
  const list = (filter: ImageFilter | null) => {
    const wanted = filter?.image?.image ?? '';
    if (wanted === '') return images.list().map(imageView);
    const found = images.find(wanted);
    return found ? [imageView(found)] : [];
  };
  return {
    listImages: ({ filter }) => ({ images: list(filter) }),

    async *streamImages({ filter }) {
      yield { images: list(filter) };
    },

    imageStatus: ({ image, verbose }) => {
      const found = images.find(image?.image ?? '');
      return {
        image: found && imageView(found),
        info:
          found && verbose
            ? { info: JSON.stringify({ imageSpec: { config: found.definition.config } }) }
            : {},
      };
    },

    pullImage: ({ image, auth, sandboxConfig }, call) => {
      const metadata = sandboxConfig?.metadata;
      const object = metadata
        ? { kind: 'Pod', namespace: metadata.namespace, name: metadata.name, uid: metadata.uid }
        : undefined;
      const name = image?.image ?? '';
      const step = { parent: call.traceParent, node: nodeName, object, attributes: { image: name } };
      return tracer.step('runtime.pull', step, async () => {
        const { id } = await images.pull(name, auth, sandboxConfig);
        return { imageRef: id };
      });
    },

    removeImage: ({ image }) => {
      images.remove(image?.image ?? '');
      return {};
    },

    imageFsInfo: () => {
      const usage = stats.imageFs(images.list().reduce((total, image) => total + image.size, 0));
      return { imageFilesystems: [usage], containerFilesystems: [usage] };
    },
  };
}
