import type { StatefulSet } from '@tinkernetes/api';
import type { Metrics } from '@tinkernetes/component-base';
import type { Lister } from '@tinkernetes/informers';
import { maxUnavailableOf } from './plan';

const labelNames = ['statefulset_namespace', 'statefulset_name', 'pod_management_policy'];

/** Counted when they are asked for. Source: pkg/controller/statefulset/metrics. */
export function registerSetMetrics(metrics: Metrics, sets: Lister<StatefulSet>): void {
  const gauge = (name: string, help: string, valueOf: (set: StatefulSet) => number) =>
    metrics
      .gauge(`statefulset_controller_statefulset_${name}`, help, labelNames)
      .collectEach(() => sets.list().map((set) => [labelsOf(set), valueOf(set)] as const));
  gauge(
    'max_unavailable',
    'Maximum number of unavailable pods allowed during StatefulSet rolling updates',
    (set) => maxUnavailableOf(set, replicasOf(set)),
  );
  gauge('unavailable_replicas', 'Current number of unavailable pods in StatefulSet', (set) =>
    Math.max(0, replicasOf(set) - (set.status?.availableReplicas ?? 0)),
  );
}

const replicasOf = ({ spec }: StatefulSet): number => spec.replicas ?? 1;

const labelsOf = ({ metadata, spec }: StatefulSet) => ({
  statefulset_namespace: metadata.namespace ?? '',
  statefulset_name: metadata.name,
  pod_management_policy: spec.podManagementPolicy ?? 'OrderedReady',
});
