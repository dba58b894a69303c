import type { PersistentVolume, PersistentVolumeClaim } from '@tinkernetes/api';
import type { Labels, Metrics } from '@tinkernetes/component-base';
import type { Lister } from '@tinkernetes/informers';
import { classNameOf } from './match';

const volumeLabels = ['storage_class'] as const;
const claimLabels = ['namespace', 'storage_class', 'volume_attributes_class'] as const;

export interface BinderMetrics {
  /** How long an operation of the built-in provisioner took; an error is counted instead. */
  operation<R>(name: 'provision' | 'delete', work: () => Promise<R>): Promise<R>;
}

export interface BinderMetricsDeps {
  plugin: string;
  now: () => number;
  volumes: Lister<PersistentVolume>;
  claims: Lister<PersistentVolumeClaim>;
}

/** Source: pkg/controller/volume/persistentvolume/metrics. */
export function createBinderMetrics(metrics: Metrics, deps: BinderMetricsDeps): BinderMetrics {
  const { plugin, now, volumes, claims } = deps;
  const counted = (name: string, help: string, labels: readonly string[], each: () => Iterable<Labels>) =>
    metrics.gauge(`pv_collector_${name}`, help, labels).collectEach(() => countLabels(each()));
  const volumesWhere = (isBound: boolean) => () =>
    volumes
      .list()
      .filter(({ status }) => (status?.phase === 'Bound') === isBound)
      .map(({ spec }) => ({ storage_class: spec.storageClassName ?? '' }));
  const claimsWhere = (isBound: boolean) => () =>
    claims
      .list()
      .filter(({ status }) => (status?.phase === 'Bound') === isBound)
      .map(labelsOfClaim);
  const gauge = 'Gauge measuring number of persistent volume';
  counted('bound_pv_count', `${gauge} currently bound`, volumeLabels, volumesWhere(true));
  counted('unbound_pv_count', `${gauge} currently unbound`, volumeLabels, volumesWhere(false));
  counted('bound_pvc_count', `${gauge} claim currently bound`, claimLabels, claimsWhere(true));
  counted('unbound_pvc_count', `${gauge} claim currently unbound`, claimLabels, claimsWhere(false));
  counted(
    'total_pv_count',
    'Gauge measuring total number of persistent volumes',
    ['plugin_name', 'volume_mode'],
    () =>
      volumes.list().map((volume) => ({
        plugin_name: pluginOf(volume),
        volume_mode: volume.spec.volumeMode ?? 'Filesystem',
      })),
  );
  const operationLabels = ['plugin_name', 'operation_name'];
  const times = metrics.histogram('volume_operation_total_seconds', 'Total volume operation time', {
    labelNames: operationLabels,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  });
  const errors = metrics.counter(
    'volume_operation_total_errors',
    'Total volume operation errors',
    operationLabels,
  );
  return {
    async operation(name, work) {
      const labels = { plugin_name: plugin, operation_name: name };
      const startedAt = now();
      try {
        const result = await work();
        times.observe((now() - startedAt) / 1000, labels);
        return result;
      } catch (error) {
        errors.inc(labels);
        throw error;
      }
    },
  };
}

const labelsOfClaim = (claim: PersistentVolumeClaim): Labels => ({
  namespace: claim.metadata.namespace ?? '',
  storage_class: classNameOf(claim),
  volume_attributes_class: claim.spec.volumeAttributesClassName ?? '',
});

/** `kubernetes.io/csi:DRIVER`, `kubernetes.io/host-path`, as upstream's plugins are called. */
function pluginOf({ spec }: PersistentVolume): string {
  if (spec.csi) return `kubernetes.io/csi:${spec.csi.driver}`;
  if (spec.hostPath) return 'kubernetes.io/host-path';
  if (spec.local) return 'kubernetes.io/local-volume';
  return spec.nfs ? 'kubernetes.io/nfs' : 'N/A';
}

/** How often each combination occurs. */
function countLabels(all: Iterable<Labels>): Iterable<readonly [Labels, number]> {
  const counts = new Map<string, readonly [Labels, number]>();
  for (const labels of all) {
    const key = Object.values(labels).join('|');
    counts.set(key, [labels, (counts.get(key)?.[1] ?? 0) + 1]);
  }
  return counts.values();
}
