import type { Metrics } from '@tinkernetes/component-base';
import type { PriorityLevel, Rejection } from './priority-level';

const flowLabels = ['priority_level', 'flow_schema'];

export interface Flow {
  priority_level: string;
  flow_schema: string;
}

/** Under upstream's names. What is known anyway is read when somebody asks, so that requests pay nothing for it. */
export function flowControlMetrics(metrics: Metrics, levels: () => Iterable<PriorityLevel>) {
  const prefix = 'apiserver_flowcontrol';
  const dispatched = metrics.counter(
    `${prefix}_dispatched_requests_total`,
    'Number of requests executed by API Priority and Fairness subsystem',
    flowLabels,
  );
  const rejected = metrics.counter(
    `${prefix}_rejected_requests_total`,
    'Number of requests rejected by API Priority and Fairness subsystem',
    [...flowLabels, 'reason'],
  );
  const waits = metrics.histogram(
    `${prefix}_request_wait_duration_seconds`,
    'Length of time a request spent waiting in its queue',
    {
      labelNames: [...flowLabels, 'execute'],
      buckets: [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30],
    },
  );
  const ofLevels = (name: string, help: string, read: (level: PriorityLevel) => number) =>
    metrics
      .gauge(`${prefix}_${name}`, help, ['priority_level'])
      .collectEach(() =>
        [...levels()].map((level) => [{ priority_level: level.name }, read(level)] as const),
      );
  const finite = (seats: number) => (Number.isFinite(seats) ? seats : 0);
  ofLevels(
    'current_executing_requests',
    'Number of requests in initial (for a WATCH) or any (for a non-WATCH) execution stage in the API Priority and Fairness subsystem',
    ({ executing }) => executing,
  );
  ofLevels(
    'current_executing_seats',
    'Concurrency (number of seats) occupied by the currently executing (initial stage for a WATCH, any stage otherwise) requests in the API Priority and Fairness subsystem',
    ({ executingSeats }) => executingSeats,
  );
  ofLevels(
    'current_inqueue_requests',
    'Number of requests currently pending in queues of the API Priority and Fairness subsystem',
    ({ waiting }) => waiting,
  );
  ofLevels(
    'nominal_limit_seats',
    'Nominal number of execution seats configured for each priority level',
    (level) => finite(level.nominalSeats),
  );
  ofLevels(
    'lower_limit_seats',
    'Configured lower bound on number of execution seats available to each priority level',
    (level) => finite(level.nominalSeats) - level.lendableSeats,
  );
  return {
    dispatched: (flow: Flow): void => dispatched.inc({ ...flow }),
    rejected: (flow: Flow, reason: Rejection): void => rejected.inc({ ...flow, reason }),
    waited: (flow: Flow, seconds: number, isExecuted: boolean): void =>
      waits.observe(seconds, { ...flow, execute: String(isExecuted) }),
  };
}
