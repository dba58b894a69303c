import { silentLogger, VirtualClock } from '@tinkernetes/component-base/testing';
import type { Container, FilesystemUsage, Image } from '@tinkernetes/cri';
import { ImageGarbageCollector } from './image-garbage-collector';

const image = (id: string, more: Partial<Image> = {}): Image => ({
  id,
  pinned: false,
  repoDigests: [],
  repoTags: [`${id}:latest`],
  size: 10,
  spec: null,
  uid: null,
  username: '',
  ...more,
});

class Disk {
  readonly clock = new VirtualClock();
  images: Image[] = [];
  /** IDs of the images that containers use. */
  used: string[] = [];
  available = 100;
  readonly removed: string[] = [];

  collector({ highThreshold = 85 } = {}): ImageGarbageCollector {
    const mountpoint = { fsId: { mountpoint: '/images' } } as FilesystemUsage;
    return new ImageGarbageCollector({
      clock: this.clock,
      logger: silentLogger,
      highThreshold,
      lowThreshold: 80,
      minimumAgeMs: 120_000,
      space: () => Promise.resolve({ available: this.available, capacity: 100 }),
      runtime: {
        listContainers: () =>
          Promise.resolve({
            containers: this.used.map((imageId) => ({ imageId, imageRef: '', image: null }) as Container),
          }),
      },
      images: {
        listImages: () => Promise.resolve({ images: this.images }),
        imageFsInfo: () => Promise.resolve({ imageFilesystems: [mountpoint], containerFilesystems: [] }),
        removeImage: (request) => {
          const id = request?.image?.image ?? '';
          this.removed.push(id);
          this.images = this.images.filter((i) => i.id !== id);
          return Promise.resolve({});
        },
      },
    });
  }
}

describe('ImageGarbageCollector', () => {
  it('deletes nothing below the high threshold', async () => {
    const disk = new Disk();
    disk.images = [image('a')];
    disk.available = 16;
    const collector = disk.collector();
    await collector.collect();
    await disk.clock.advance(300_000);
    expect(await collector.collect()).toBeUndefined();
    expect(disk.removed).toEqual([]);
  });

  it('deletes down to the low threshold what was unused for longest, but nothing in use, pinned or young', async () => {
    const disk = new Disk();
    disk.images = [image('recent'), image('old'), image('running'), image('pinned', { pinned: true })];
    disk.used = ['recent', 'running'];
    const collector = disk.collector();
    await collector.collect();
    await disk.clock.advance(300_000);
    disk.used = ['running'];
    disk.images.push(image('young'));
    disk.available = 5;
    expect(await collector.collect()).toBeUndefined();
    expect(disk.removed).toEqual(['old', 'recent']);
  });

  it('tells when too little could be freed', async () => {
    const disk = new Disk();
    disk.images = [image('only')];
    const collector = disk.collector();
    await collector.collect();
    await disk.clock.advance(300_000);
    disk.available = 5;
    expect(await collector.collect()).toBe(
      'Failed to garbage collect required amount of images. Attempted to free 15 bytes, but only found 10 bytes eligible to free.',
    );
  });

  it('never deletes with a threshold of 100', async () => {
    const disk = new Disk();
    disk.images = [image('a')];
    disk.available = 0;
    const collector = disk.collector({ highThreshold: 100 });
    await collector.collect();
    await disk.clock.advance(300_000);
    expect(await collector.collect()).toBeUndefined();
    expect(disk.removed).toEqual([]);
  });
});
