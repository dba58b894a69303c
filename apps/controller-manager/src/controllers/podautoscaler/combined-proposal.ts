import type { MetricStatus } from '@tinkernetes/api';
import type { Clock } from '@tinkernetes/component-base';
import type { EventRecorder } from '@tinkernetes/controller';
import { actionOf, type Action, type AutoscalerMetrics } from './autoscaler-metrics';
import { MetricError, proposeByMetric, type MetricContext, type MetricProposal } from './metric-proposal';
import type { Conditions } from './status';
import { Stopped } from './stopped';

export interface CombinedProposal {
  replicas: number;
  /** Of the metric that decided. */
  name: string;
  metrics: MetricStatus[];
  /** Some metrics could not be read; the others decided. */
  partial?: Error;
}

export interface ProposalDeps {
  conditions: Conditions;
  recorder: EventRecorder;
  clock: Clock;
  monitor: AutoscalerMetrics;
}

/** The highest of what the metrics recommend. */
export async function proposeReplicas(
  context: MetricContext,
  { conditions, recorder, clock, monitor }: ProposalDeps,
): Promise<CombinedProposal> {
  const { autoscaler, specReplicas } = context;
  const specs = autoscaler.spec.metrics ?? [];
  const statuses: MetricStatus[] = [];
  let best: MetricProposal | undefined;
  const failed: MetricError[] = [];
  for (const spec of specs) {
    const startMs = clock.monotonic();
    const observe = (action: Action, error: 'none' | 'internal') =>
      monitor.computed(spec.type, { action, error, seconds: (clock.monotonic() - startMs) / 1000 });
    try {
      const proposal = await proposeByMetric(spec, context);
      observe(actionOf(autoscaler.status?.currentReplicas ?? 0, proposal.replicas), 'none');
      statuses.push(proposal.status);
      if (!best || proposal.replicas > best.replicas) best = proposal;
    } catch (error) {
      observe('none', 'internal');
      if (!(error instanceof MetricError)) throw error;
      recorder.event(autoscaler, 'Warning', error.reason, error.detail);
      failed.push(error);
      // Its place in the list is kept, as upstream keeps it.
      statuses.push({ type: '' });
    }
  }
  const [first] = failed;
  const partial = first && new Stopped(invalidMetrics(failed.length, specs.length, first), statuses, first);
  // Too little is known to take Pods away.
  if (!best || (partial && best.replicas < specReplicas)) {
    const stopped = partial ?? new Stopped('no metrics');
    if (first)
      conditions.set(
        'ScalingActive',
        'False',
        first.reason,
        `the HPA was unable to compute the replica count: ${first.detail}`,
      );
    recorder.event(autoscaler, 'Warning', 'FailedComputeMetricsReplicas', stopped.message);
    throw stopped;
  }
  conditions.set(
    'ScalingActive',
    'True',
    'ValidMetricFound',
    `the HPA was able to successfully calculate a replica count from ${best.name}`,
  );
  return { replicas: best.replicas, name: best.name, metrics: statuses, partial };
}

const invalidMetrics = (failed: number, all: number, first: Error): string =>
  `invalid metrics (${failed} invalid out of ${all}), first error is: ${first.message}`;
