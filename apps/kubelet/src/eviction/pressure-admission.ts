import type { Pod } from '@tinkernetes/api';
import { isTolerated, qosClassOf } from '@tinkernetes/apimachinery';
import type { PodVerdict } from '../pods/pod-status';
import type { PressureCondition } from './thresholds';

/**
 * A node under memory pressure takes no BestEffort Pod that does not tolerate it; one under other pressure takes none.
 * Source: pkg/kubelet/eviction/eviction_manager.go Admit.
 */
export function pressureRefusal(pod: Pod, conditions: readonly PressureCondition[]): PodVerdict | undefined {
  if (conditions.length === 0) return undefined;
  if (conditions.length === 1 && conditions[0] === 'MemoryPressure') {
    const taint = { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' as const };
    if (qosClassOf(pod.spec) !== 'BestEffort' || isTolerated(taint, pod.spec.tolerations)) return undefined;
  }
  return { reason: 'Evicted', message: `The node had condition: [${conditions.join(' ')}]. ` };
}
