import type { Clock, Logger } from '@tinkernetes/component-base';
import type { Image, ImageClient, RuntimeClient } from '@tinkernetes/cri';

export interface DiskSpace {
  available: number;
  capacity: number;
}

export interface ImageGarbageCollectorDeps {
  images: Pick<ImageClient, 'listImages' | 'removeImage' | 'imageFsInfo'>;
  runtime: Pick<RuntimeClient, 'listContainers'>;
  clock: Clock;
  logger: Logger;
  /** Percent of the disk in use at which images are deleted; 100: never. */
  highThreshold: number;
  /** Percent of the disk in use down to which images are deleted. */
  lowThreshold: number;
  /** Younger images stay. */
  minimumAgeMs: number;
  space(mountpoint: string): Promise<DiskSpace>;
}

/**
 * Deletes images that no container uses when the disk becomes full, those unused for longest first.
 * Source: pkg/kubelet/images/image_gc_manager.go.
 */
export class ImageGarbageCollector {
  /** By image ID. */
  private readonly known = new Map<string, { detectedAt: number; usedAt: number }>();

  constructor(private readonly deps: ImageGarbageCollectorDeps) {}

  /** Resolves with what is to be told on the node when too little could be freed. */
  async collect(): Promise<string | undefined> {
    const { images, highThreshold, lowThreshold, space, logger } = this.deps;
    const unused = await this.unusedImages();
    if (highThreshold >= 100) return undefined;
    const [fileSystem] = (await images.imageFsInfo()).imageFilesystems;
    const mountpoint = fileSystem?.fsId?.mountpoint;
    if (!mountpoint) return undefined;
    const { available, capacity } = await space(mountpoint);
    const usedPercent = 100 - Math.floor((available * 100) / capacity);
    if (usedPercent < highThreshold) return undefined;
    const wanted = Math.floor((capacity * (100 - lowThreshold)) / 100) - available;
    logger.info({ usedPercent, highThreshold, wanted }, 'disk is filling up, deleting unused images');
    let freed = 0;
    for (const { id, size } of unused) {
      if (freed >= wanted) break;
      await images.removeImage({ image: { image: id } });
      this.known.delete(id);
      freed += size;
    }
    if (freed >= wanted) return undefined;
    return `Failed to garbage collect required amount of images. Attempted to free ${wanted} bytes, but only found ${freed} bytes eligible to free.`;
  }

  /** Deletes all images that no container uses, however full the disk is. */
  async deleteUnused(): Promise<void> {
    for (const { id } of await this.unusedImages()) {
      await this.deps.images.removeImage({ image: { image: id } });
      this.known.delete(id);
    }
  }

  /** Those that may be deleted, the one first that has been unused for longest. */
  private async unusedImages(): Promise<Image[]> {
    const { clock, images, runtime, minimumAgeMs } = this.deps;
    const now = clock.monotonic();
    const [{ images: all }, { containers }] = await Promise.all([
      images.listImages(),
      runtime.listContainers(),
    ]);
    const inUse = new Set(containers.flatMap((c) => [c.imageId, c.imageRef, c.image?.image ?? '']));
    const present = new Set(all.map((image) => image.id));
    for (const id of this.known.keys()) if (!present.has(id)) this.known.delete(id);
    const candidates: Array<{ image: Image; usedAt: number; detectedAt: number }> = [];
    for (const image of all) {
      const record = this.known.get(image.id) ?? { detectedAt: now, usedAt: -Infinity };
      this.known.set(image.id, record);
      if ([image.id, ...image.repoTags, ...image.repoDigests].some((name) => inUse.has(name)))
        record.usedAt = now;
      else if (!image.pinned && now - record.detectedAt >= minimumAgeMs)
        candidates.push({ image, ...record });
    }
    candidates.sort((a, b) => a.usedAt - b.usedAt || a.detectedAt - b.detectedAt);
    return candidates.map(({ image }) => image);
  }
}
