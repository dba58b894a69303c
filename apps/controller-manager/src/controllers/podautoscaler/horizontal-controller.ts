import {
  HorizontalPodAutoscalers,
  Pods,
  type HorizontalPodAutoscaler,
  type HorizontalPodAutoscalerStatus,
  type MetricStatus,
} from '@tinkernetes/api';
import { keyOf, Quantity } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import type { ReconcileResult, Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { sameStatus } from '../shared/same-status';
import { actionOf, AutoscalerMetrics, type Action } from './autoscaler-metrics';
import { proposeReplicas } from './combined-proposal';
import { KindMapper } from './kind-mapper';
import { MetricsClient } from './metrics-client';
import { normalize } from './normalize';
import type { Tolerances } from './replica-calculator';
import { ScaleTargets, type ScaleTarget } from './scale-target';
import { ScalingHistory } from './scaling-history';
import { Conditions } from './status';
import { Stopped } from './stopped';
import { TargetPods } from './target-pods';

/**
 * Scales whatever has a scale subresource to what its metrics ask for. Watches HorizontalPodAutoscalers and Pods, looks
 * at metrics every --horizontal-pod-autoscaler-sync-period; writes scales and statuses.
 * Source: pkg/controller/podautoscaler, https://kubernetes.io/docs/concepts/workloads/autoscaling/horizontal-pod-autoscale/
 */
export function startHorizontalPodAutoscalerController(context: ControllerContext): RunnableController {
  const { informers, flags } = context;
  const queue = context.queues.create('horizontalpodautoscaler');
  const autoscalers = informers.for(HorizontalPodAutoscalers);
  autoscalers.addEventHandler({
    added: (autoscaler) => queue.add(keyOf(autoscaler)),
    // Its own status writes come back here: they are no reason to look at metrics before their time.
    updated: (before, autoscaler) => {
      if (!sameStatus(before.spec, autoscaler.spec)) queue.add(keyOf(autoscaler));
    },
    deleted: (autoscaler) => queue.add(keyOf(autoscaler)),
  });
  return queueController({
    context,
    queue,
    reconciler: new HorizontalController(context),
    concurrency: flags['concurrent-horizontal-pod-autoscaler-syncs'],
  });
}

/** What one look at an autoscaler has come to. */
interface Outcome {
  desiredReplicas: number;
  reason: string;
  metrics: MetricStatus[];
  /** Some metrics could not be read; the others decided. */
  partial?: Error;
}

class HorizontalController implements Reconciler {
  readonly name = 'horizontal-pod-autoscaler-controller';
  private readonly autoscalers;
  private readonly targets: ScaleTargets;
  private readonly targetPods: TargetPods;
  private readonly metrics: MetricsClient;
  private readonly monitor: AutoscalerMetrics;
  private readonly histories = new Map<string, ScalingHistory>();

  constructor(private readonly context: ControllerContext) {
    const { informers, client, clock, recorder } = context;
    this.autoscalers = informers.for(HorizontalPodAutoscalers);
    const kinds = new KindMapper(client, clock);
    this.targets = new ScaleTargets(client, kinds);
    this.targetPods = new TargetPods({
      pods: informers.for(Pods).lister,
      autoscalers: this.autoscalers.lister,
      recorder,
    });
    this.metrics = new MetricsClient(client, kinds, clock);
    this.monitor = new AutoscalerMetrics(context.metrics);
  }

  async reconcile(key: string): Promise<ReconcileResult | void> {
    const autoscaler = this.autoscalers.lister.getByKey(key);
    if (!autoscaler) {
      this.histories.delete(key);
      this.targetPods.forget(key);
      this.monitor.forget(key);
      return;
    }
    const { clock } = this.context;
    const startMs = clock.monotonic();
    const observe = (action: Action, error: 'none' | 'internal') =>
      this.monitor.reconciled({ action, error, seconds: (clock.monotonic() - startMs) / 1000 });
    try {
      observe(await this.sync(key, autoscaler), 'none');
    } catch (error) {
      observe('none', 'internal');
      // Retried at the pace of all looks: metrics that are missing now would not come sooner by asking faster.
      this.context.logger.info({ autoscaler: key, err: error }, 'could not scale');
    }
    return { requeueAfterMs: this.context.flags['horizontal-pod-autoscaler-sync-period'] };
  }

  private async sync(key: string, autoscaler: HorizontalPodAutoscaler): Promise<Action> {
    const { clock, recorder } = this.context;
    const now = clock.now();
    const conditions = new Conditions(autoscaler.status, formatTime(now));
    const fail = async (
      error: unknown,
      current: number | undefined,
      metrics: MetricStatus[] = [],
    ): Promise<never> => {
      const before = autoscaler.status;
      await this.writeStatus(autoscaler, {
        ...before,
        desiredReplicas: before?.desiredReplicas ?? 0,
        ...(current === undefined ? {} : { currentReplicas: current, currentMetrics: metrics }),
        conditions: conditions.all(),
      });
      throw error;
    };

    let target: ScaleTarget;
    try {
      target = await this.targets.find(autoscaler);
    } catch (error) {
      const { message } = error as Error;
      recorder.event(autoscaler, 'Warning', 'FailedGetScale', message);
      conditions.set(
        'AbleToScale',
        'False',
        'FailedGetScale',
        `the HPA controller was unable to get the target's current scale: ${message}`,
      );
      return fail(error, undefined);
    }
    conditions.set(
      'AbleToScale',
      'True',
      'SucceededGetScale',
      "the HPA controller was able to get the target's current scale",
    );
    const currentReplicas = target.scale.spec.replicas ?? 0;
    const history = this.historyOf(key);
    history.begin(currentReplicas, now);

    let outcome: Outcome;
    try {
      outcome = await this.decide(key, autoscaler, { target, conditions, history, now });
    } catch (error) {
      if (error instanceof Stopped) return fail(error, currentReplicas, error.metrics);
      throw error;
    }
    const { desiredReplicas, reason, metrics, partial } = outcome;
    const rescale = desiredReplicas !== currentReplicas;
    if (rescale) {
      try {
        await this.targets.rescale(target, autoscaler.metadata.namespace, desiredReplicas);
      } catch (error) {
        const { message } = error as Error;
        recorder.event(
          autoscaler,
          'Warning',
          'FailedRescale',
          `New size: ${desiredReplicas}; reason: ${reason}; error: ${message}`,
        );
        conditions.set(
          'AbleToScale',
          'False',
          'FailedUpdateScale',
          `the HPA controller was unable to update the target scale: ${message}`,
        );
        return fail(error, currentReplicas, metrics);
      }
      conditions.set(
        'AbleToScale',
        'True',
        'SucceededRescale',
        `the HPA controller was able to update the target scale to ${desiredReplicas}`,
      );
      recorder.event(
        autoscaler,
        'Normal',
        'SuccessfulRescale',
        `New size: ${desiredReplicas}; reason: ${reason}`,
      );
      const { behavior } = autoscaler.spec;
      const rules = desiredReplicas > currentReplicas ? behavior?.scaleUp : behavior?.scaleDown;
      if (behavior) history.scaled(currentReplicas, desiredReplicas, { now, rules });
    }
    await this.writeStatus(autoscaler, {
      currentReplicas,
      desiredReplicas,
      currentMetrics: metrics,
      lastScaleTime: rescale ? formatTime(now) : autoscaler.status?.lastScaleTime,
      conditions: conditions.all(),
    });
    const { namespace = '', name } = autoscaler.metadata;
    this.monitor.setDesired(key, { namespace, name, replicas: desiredReplicas });
    if (partial) throw partial;
    return actionOf(currentReplicas, desiredReplicas);
  }

  /** How many replicas there should be, and why. */
  private async decide(
    key: string,
    autoscaler: HorizontalPodAutoscaler,
    run: { target: ScaleTarget; conditions: Conditions; history: ScalingHistory; now: number },
  ): Promise<Outcome> {
    const { minReplicas = 1, maxReplicas, behavior } = autoscaler.spec;
    const { target, conditions, history, now } = run;
    const currentReplicas = target.scale.spec.replicas ?? 0;
    if (currentReplicas === 0 && minReplicas !== 0) {
      conditions.set(
        'ScalingActive',
        'False',
        'ScalingDisabled',
        'scaling is disabled since the replica count of the target is zero',
      );
      return { desiredReplicas: 0, reason: '', metrics: [] };
    }
    const bounded = (desiredReplicas: number, reason: string): Outcome => ({
      desiredReplicas,
      reason,
      metrics: [],
    });
    if (currentReplicas > maxReplicas)
      return bounded(maxReplicas, 'Current number of replicas above Spec.MaxReplicas');
    if (currentReplicas < minReplicas)
      return bounded(minReplicas, 'Current number of replicas below Spec.MinReplicas');

    const { recorder, clock, flags } = this.context;
    const proposal = await proposeReplicas(
      {
        metrics: this.metrics,
        autoscaler,
        pods: this.targetPods.of(key, autoscaler, run),
        selector: target.scale.status?.selector ?? '',
        specReplicas: currentReplicas,
        statusReplicas: target.scale.status?.replicas ?? 0,
        tolerances: tolerancesOf(autoscaler, Number(flags['horizontal-pod-autoscaler-tolerance'])),
        rules: {
          now,
          cpuInitializationMs: flags['horizontal-pod-autoscaler-cpu-initialization-period'],
          initialReadinessDelayMs: flags['horizontal-pod-autoscaler-initial-readiness-delay'],
        },
      },
      { conditions, recorder, clock, monitor: this.monitor },
    );
    const normalized = normalize({
      currentReplicas,
      desiredReplicas: proposal.replicas,
      minReplicas,
      maxReplicas,
      history,
      now,
      behavior,
      downscaleStabilizationMs: flags['horizontal-pod-autoscaler-downscale-stabilization'],
    });
    const { able, limited, replicas } = normalized;
    conditions.set('AbleToScale', 'True', able.reason, able.message);
    conditions.set('ScalingLimited', limited.status, limited.reason, limited.message);
    const reason =
      proposal.replicas > currentReplicas ? `${proposal.name} above target` : 'All metrics below target';
    return { desiredReplicas: replicas, reason, metrics: proposal.metrics, partial: proposal.partial };
  }

  private async writeStatus(
    autoscaler: HorizontalPodAutoscaler,
    next: HorizontalPodAutoscalerStatus,
  ): Promise<void> {
    const status = { ...next, observedGeneration: autoscaler.metadata.generation };
    if (sameStatus(autoscaler.status, status)) return;
    try {
      const { namespace } = autoscaler.metadata;
      await this.context.client
        .for(HorizontalPodAutoscalers)
        .updateStatus({ ...autoscaler, status }, { namespace });
    } catch (error) {
      this.context.recorder.event(autoscaler, 'Warning', 'FailedUpdateStatus', (error as Error).message);
      throw error;
    }
  }

  private historyOf(key: string): ScalingHistory {
    const known = this.histories.get(key);
    const history = known ?? new ScalingHistory();
    this.histories.set(key, history);
    return history;
  }
}

function tolerancesOf({ spec }: HorizontalPodAutoscaler, standard: number): Tolerances {
  const own = (tolerance: string | number | undefined): number =>
    tolerance === undefined ? standard : Quantity.parse(tolerance).toNumber();
  return { up: own(spec.behavior?.scaleUp?.tolerance), down: own(spec.behavior?.scaleDown?.tolerance) };
}
