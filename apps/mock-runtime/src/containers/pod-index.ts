type Labels = Readonly<Record<string, string>>;

/** By which a kubelet finds what it has made for a Pod. */
const podLabel = 'io.kubernetes.pod.uid';

/**
 * Sandboxes or containers by their Pod. A kubelet asks for those of one Pod, and a runtime that a thousand nodes share
 * would look at tens of thousands each time.
 */
export class PodIndex<T> {
  private readonly byPod = new Map<string, T[]>();

  add(labels: Labels, item: T): void {
    const pod = labels[podLabel];
    if (pod === undefined) return;
    const items = this.byPod.get(pod);
    if (items) items.push(item);
    else this.byPod.set(pod, [item]);
  }

  delete(labels: Labels, item: T): void {
    const pod = labels[podLabel];
    if (pod === undefined) return;
    const left = this.byPod.get(pod)?.filter((other) => other !== item) ?? [];
    if (left.length > 0) this.byPod.set(pod, left);
    else this.byPod.delete(pod);
  }

  /** All that the selector may match; undefined where it does not name a Pod. */
  candidates(selector: Labels | undefined): readonly T[] | undefined {
    const pod = selector?.[podLabel];
    return pod === undefined ? undefined : (this.byPod.get(pod) ?? []);
  }
}
