import { CriError, type ImageClient, type ListImagesResponse } from '@tinkernetes/cri';
import { NodeImages } from './images';

describe('NodeImages', () => {
  it('keeps to what it last saw while the runtime does not answer, and does not wait for it long', async () => {
    let answer: () => Promise<ListImagesResponse> = () =>
      Promise.resolve({
        images: [
          { repoTags: ['small:1'], repoDigests: [], size: 1 },
          { repoTags: ['big:1'], repoDigests: ['big@sha256:0'], size: 2 },
        ],
      } as unknown as ListImagesResponse);
    const timeouts: (number | undefined)[] = [];
    const listImages: ImageClient['listImages'] = (_request, options) => {
      timeouts.push(options?.timeoutMs);
      return answer();
    };
    const images = new NodeImages({ listImages });
    const seen = [
      { names: ['big@sha256:0', 'big:1'], sizeBytes: 2 },
      { names: ['small:1'], sizeBytes: 1 },
    ];
    expect(await images.list()).toEqual(seen);
    answer = () => Promise.reject(new CriError('DEADLINE_EXCEEDED', 'context deadline exceeded'));
    expect(await images.list()).toEqual(seen);
    expect(timeouts).toEqual([2000, 2000]);
  });
});
