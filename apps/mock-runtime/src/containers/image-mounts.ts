import { CriError, type ContainerConfig } from '@tinkernetes/cri';
import type { Mount } from '../files/mounts';
import { nodeAt } from '../files/nodes';
import type { StoredImage } from '../images/image';

/**
 * The images that a container has mounted, or a directory or file of theirs (KEP-4639). Throws where one is not on this
 * node, or has no such path.
 */
export function imageMounts(
  { mounts }: Pick<ContainerConfig, 'mounts'>,
  find: (image: string) => StoredImage | undefined,
): Mount[] {
  return mounts.flatMap(({ image: spec, imageSubPath, containerPath }) => {
    if (!spec?.image) return [];
    const image = find(spec.image);
    if (!image) throw new CriError('NOT_FOUND', `failed to resolve image "${spec.image}": not found`);
    const tree = nodeAt(image.definition.root(image.tag), imageSubPath);
    if (!tree)
      throw new CriError(
        'UNKNOWN',
        `failed to mount image volume: sub path "${imageSubPath}" does not exist in "${spec.image}"`,
      );
    return [{ containerPath, hostPath: '', readonly: true, tree }];
  });
}
