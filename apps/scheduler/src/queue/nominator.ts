import type { Pod } from '@tinkernetes/api';
import { podInfoOf, uidOf, type PodInfo } from '../cache/pod-info';
import type { Nominator } from '../framework/types';

const none: readonly PodInfo[] = [];

/** Which unscheduled Pods are nominated to run where. */
export class PodNominator implements Nominator {
  private readonly byNode = new Map<string, Map<string, PodInfo>>();
  private readonly nodeOfPod = new Map<string, string>();

  nominatedPods(node: string): readonly PodInfo[] {
    const pods = this.byNode.get(node);
    return pods ? [...pods.values()] : none;
  }

  nominate(pod: Pod, node: string): void {
    this.clear(pod);
    const pods = this.byNode.get(node) ?? new Map<string, PodInfo>();
    this.byNode.set(node, pods.set(uidOf(pod), podInfoOf(pod)));
    this.nodeOfPod.set(uidOf(pod), node);
  }

  clear(pod: Pod): void {
    const node = this.nodeOfPod.get(uidOf(pod));
    if (node === undefined) return;
    this.nodeOfPod.delete(uidOf(pod));
    const pods = this.byNode.get(node);
    pods?.delete(uidOf(pod));
    if (pods?.size === 0) this.byNode.delete(node);
  }
}
