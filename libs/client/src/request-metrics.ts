import type { Metrics } from '@tinkernetes/component-base';

/** One attempt at a request. `code`: of the answer; undefined: there was none. */
export interface RequestObservation {
  method: string;
  code: number | undefined;
  ms: number;
  requestBytes: number;
}

export type ObserveRequest = (observation: RequestObservation) => void;

const durations = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const sizes = [64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216];

/** Metrics of requests to one server. Source: k8s.io/component-base/metrics/prometheus/restclient. */
export function createRequestMetrics(metrics: Metrics, host: string): ObserveRequest {
  const labelNames = ['verb', 'host'];
  const total = metrics.counter(
    'rest_client_requests_total',
    'Number of HTTP requests, partitioned by status code, method, and host.',
    ['code', 'method', 'host'],
  );
  const duration = metrics.histogram(
    'rest_client_request_duration_seconds',
    'Request latency in seconds. Broken down by verb, and host.',
    { labelNames, buckets: durations },
  );
  const size = metrics.histogram(
    'rest_client_request_size_bytes',
    'Request size in bytes. Broken down by verb and host.',
    { labelNames, buckets: sizes },
  );
  return ({ method, code, ms, requestBytes }) => {
    total.inc({ code: code ?? '<error>', method, host });
    duration.observe(ms / 1000, { verb: method, host });
    if (requestBytes > 0) size.observe(requestBytes, { verb: method, host });
  };
}
