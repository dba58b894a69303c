import type { EndpointSlice } from '@tinkernetes/api';

/**
 * Which versions of slices this process has written itself: any other has been changed by somebody else, and is to be put
 * right. Source: k8s.io/endpointslice/util EndpointSliceTracker.
 */
export class WrittenSlices {
  private readonly versions = new Map<string, string>();

  note({ metadata: { uid = '', resourceVersion = '' } }: EndpointSlice): void {
    this.versions.set(uid, resourceVersion);
  }

  /** Labels do not count for the generation. */
  isChangedByOthers(before: EndpointSlice, { metadata }: EndpointSlice): boolean {
    const isChanged =
      before.metadata.generation !== metadata.generation ||
      JSON.stringify(before.metadata.labels) !== JSON.stringify(metadata.labels);
    return isChanged && this.versions.get(metadata.uid ?? '') !== metadata.resourceVersion;
  }

  forget({ metadata: { uid = '' } }: EndpointSlice): void {
    this.versions.delete(uid);
  }
}
