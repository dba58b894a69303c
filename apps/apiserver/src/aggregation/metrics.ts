import { isConditionTrue } from '@tinkernetes/apimachinery';
import type { APIService } from '@tinkernetes/api';
import type { Metrics } from '@tinkernetes/component-base';
import type { Verdict } from './verdict';

/** Under upstream's names: kube-aggregator/pkg/controllers/status/metrics. */
export function aggregatorMetrics(metrics: Metrics) {
  const unavailable = metrics.gauge(
    'aggregator_unavailable_apiservice',
    'Gauge of APIServices which are marked as unavailable broken down by APIService name.',
    ['name'],
  );
  const becameUnavailable = metrics.counter(
    'aggregator_unavailable_apiservice_total',
    'Counter of APIServices which are marked as unavailable broken down by APIService name and reason.',
    ['name', 'reason'],
  );
  return {
    set(name: string, before: APIService, { status, reason = '' }: Verdict): void {
      unavailable.set(status === 'True' ? 0 : 1, { name });
      if (status !== 'True' && isConditionTrue(before.status?.conditions, 'Available')) {
        becameUnavailable.inc({ name, reason });
      }
    },
    forget: (name: string): void => unavailable.set(0, { name }),
  };
}
