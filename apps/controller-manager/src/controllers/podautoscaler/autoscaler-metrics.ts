import type { Metrics } from '@tinkernetes/component-base';

const prefix = 'horizontal_pod_autoscaler_controller';
/** Doubling from 1 ms, as upstream's. */
const buckets = Array.from({ length: 15 }, (_, i) => 0.001 * 2 ** i);

export type Action = 'scale_up' | 'scale_down' | 'none';
export type Failure = 'internal' | 'none';

interface Observation {
  action: Action;
  error: Failure;
  seconds: number;
}

/** Source: pkg/controller/podautoscaler/monitor. */
export class AutoscalerMetrics {
  private readonly reconciliations;
  private readonly reconciliationTimes;
  private readonly computations;
  private readonly computationTimes;
  private readonly desired = new Map<string, { namespace: string; name: string; replicas: number }>();

  constructor(metrics: Metrics) {
    const labelNames = ['action', 'error'];
    const computationLabels = [...labelNames, 'metric_type'];
    this.reconciliations = metrics.counter(
      `${prefix}_reconciliations_total`,
      'Number of reconciliations of HPA controller.',
      labelNames,
    );
    this.reconciliationTimes = metrics.histogram(
      `${prefix}_reconciliation_duration_seconds`,
      'The time(seconds) that the HPA controller takes to reconcile once.',
      { labelNames, buckets },
    );
    this.computations = metrics.counter(
      `${prefix}_metric_computation_total`,
      'Number of metric computations.',
      computationLabels,
    );
    this.computationTimes = metrics.histogram(
      `${prefix}_metric_computation_duration_seconds`,
      'The time(seconds) that the HPA controller takes to calculate one metric.',
      { labelNames: computationLabels, buckets },
    );
    const { desired } = this;
    metrics
      .gauge(`${prefix}_num_horizontal_pod_autoscalers`, 'Current number of controlled HPA objects.')
      .collect(() => desired.size);
    metrics
      .gauge(`${prefix}_desired_replicas`, 'Current desired replica count for HPA objects.', [
        'namespace',
        'hpa_name',
      ])
      .collectEach(() =>
        [...desired.values()].map(
          ({ namespace, name, replicas }) => [{ namespace, hpa_name: name }, replicas] as const,
        ),
      );
  }

  reconciled({ action, error, seconds }: Observation): void {
    this.reconciliations.inc({ action, error });
    this.reconciliationTimes.observe(seconds, { action, error });
  }

  computed(type: string, { action, error, seconds }: Observation): void {
    const labels = { action, error, metric_type: type };
    this.computations.inc(labels);
    this.computationTimes.observe(seconds, labels);
  }

  setDesired(key: string, desired: { namespace: string; name: string; replicas: number }): void {
    this.desired.set(key, desired);
  }

  forget(key: string): void {
    this.desired.delete(key);
  }
}

export const actionOf = (from: number, to: number): Action =>
  to > from ? 'scale_up' : to < from ? 'scale_down' : 'none';
