import {
  HorizontalPodAutoscalers,
  Pods,
  type HorizontalPodAutoscaler,
  type HorizontalPodAutoscalerStatus,
  type MetricStatus,
  type Pod,
  type ResourceDescriptor,
  type Scale,
} from '@tinkernetes/api';
import { isConflict, keyOf, parseLabelSelector, Quantity, type Selector } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import type { ReconcileResult, Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { sameStatus } from '../shared/same-status';
import { KindMapper } from './kind-mapper';
import { MetricError, proposeByMetric, type MetricContext, type MetricProposal } from './metric-proposal';
import { MetricsClient } from './metrics-client';
import { normalize } from './normalize';
import type { Tolerances } from './replica-calculator';
import { ScalingHistory } from './scaling-history';
import { Conditions } from './status';

const conflictRetries = 5;

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

interface Target {
  descriptor: ResourceDescriptor;
  scale: Scale;
}

/** What one look at an autoscaler has come to. */
interface Outcome {
  desiredReplicas: number;
  reason: string;
  metrics: MetricStatus[];
  /** Some metrics could not be read; the others decided. */
  partial?: Error;
}

/** The run is over: status and events say why. */
class Stopped extends Error {
  override readonly name = 'Stopped';
  constructor(
    message: string,
    readonly metrics: MetricStatus[] = [],
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

class HorizontalController implements Reconciler {
  readonly name = 'horizontal-pod-autoscaler-controller';
  private readonly autoscalers;
  private readonly pods;
  private readonly kinds: KindMapper;
  private readonly metrics: MetricsClient;
  private readonly histories = new Map<string, ScalingHistory>();
  /** Of the targets, as last read: two autoscalers must not share Pods. */
  private readonly selectors = new Map<string, Selector>();

  constructor(private readonly context: ControllerContext) {
    const { informers, client, clock } = context;
    this.autoscalers = informers.for(HorizontalPodAutoscalers);
    this.pods = informers.for(Pods);
    this.kinds = new KindMapper(client, clock);
    this.metrics = new MetricsClient(client, this.kinds, clock);
  }

  async reconcile(key: string): Promise<ReconcileResult | void> {
    const autoscaler = this.autoscalers.lister.getByKey(key);
    if (!autoscaler) {
      this.histories.delete(key);
      this.selectors.delete(key);
      return;
    }
    try {
      await this.sync(key, autoscaler);
    } catch (error) {
      // Retried at the pace of all looks: metrics that are missing now would not come sooner by asking faster.
      this.context.logger.info({ autoscaler: key, err: error }, 'could not scale');
    }
    return { requeueAfterMs: this.context.flags['horizontal-pod-autoscaler-sync-period'] };
  }

  private async sync(key: string, autoscaler: HorizontalPodAutoscaler): Promise<void> {
    const { clock, recorder } = this.context;
    const now = clock.now();
    const conditions = new Conditions(autoscaler.status, formatTime(now));
    const fail = async (error: unknown, current: number | undefined, metrics: MetricStatus[] = []) => {
      const before = autoscaler.status;
      await this.writeStatus(autoscaler, {
        ...before,
        desiredReplicas: before?.desiredReplicas ?? 0,
        ...(current === undefined ? {} : { currentReplicas: current, currentMetrics: metrics }),
        conditions: conditions.all(),
      });
      throw error;
    };

    let target: Target;
    try {
      target = await this.targetOf(autoscaler);
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
        await this.rescale(autoscaler, target, desiredReplicas);
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
    if (partial) throw partial;
  }

  /** How many replicas there should be, and why. */
  private async decide(
    key: string,
    autoscaler: HorizontalPodAutoscaler,
    run: { target: Target; conditions: Conditions; history: ScalingHistory; now: number },
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

    const proposal = await this.propose(key, autoscaler, run);
    const normalized = normalize({
      currentReplicas,
      desiredReplicas: proposal.replicas,
      minReplicas,
      maxReplicas,
      history,
      now,
      behavior,
      downscaleStabilizationMs: this.context.flags['horizontal-pod-autoscaler-downscale-stabilization'],
    });
    const { able, limited, replicas } = normalized;
    conditions.set('AbleToScale', 'True', able.reason, able.message);
    conditions.set('ScalingLimited', limited.status, limited.reason, limited.message);
    const reason =
      proposal.replicas > currentReplicas ? `${proposal.name} above target` : 'All metrics below target';
    return { desiredReplicas: replicas, reason, metrics: proposal.metrics, partial: proposal.partial };
  }

  /** The highest of what the metrics recommend. */
  private async propose(
    key: string,
    autoscaler: HorizontalPodAutoscaler,
    { target, conditions, now }: { target: Target; conditions: Conditions; now: number },
  ): Promise<{ replicas: number; name: string; metrics: MetricStatus[]; partial?: Error }> {
    const { recorder } = this.context;
    const specReplicas = target.scale.spec.replicas ?? 0;
    const pods = this.podsOf(key, autoscaler, { target, conditions });
    const context: MetricContext = {
      metrics: this.metrics,
      autoscaler,
      pods,
      selector: target.scale.status?.selector ?? '',
      specReplicas,
      statusReplicas: target.scale.status?.replicas ?? 0,
      tolerances: this.tolerancesOf(autoscaler),
      rules: this.readinessRules(now),
    };
    const specs = autoscaler.spec.metrics ?? [];
    const statuses: MetricStatus[] = [];
    let best: MetricProposal | undefined;
    const failed: MetricError[] = [];
    for (const spec of specs) {
      try {
        const proposal = await proposeByMetric(spec, context);
        statuses.push(proposal.status);
        if (!best || proposal.replicas > best.replicas) best = proposal;
      } catch (error) {
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

  /** The target's Pods; throws where its selector can't be used. */
  private podsOf(
    key: string,
    autoscaler: HorizontalPodAutoscaler,
    { target, conditions }: { target: Target; conditions: Conditions },
  ): Pod[] {
    const refuse = (event: string, reason: string, error: string, message = error): never => {
      const { recorder } = this.context;
      recorder.event(autoscaler, 'Warning', event, error);
      conditions.set('ScalingActive', 'False', reason, message);
      recorder.event(autoscaler, 'Warning', 'FailedComputeMetricsReplicas', error);
      throw new Stopped(error);
    };
    const text = target.scale.status?.selector ?? '';
    if (text === '')
      return refuse(
        'SelectorRequired',
        'InvalidSelector',
        'selector is required',
        "the HPA target's scale is missing a selector",
      );
    let selector: Selector;
    try {
      selector = parseLabelSelector(text);
    } catch (error) {
      const reason = (error as Error).message;
      return refuse(
        'InvalidSelector',
        'InvalidSelector',
        `couldn't convert selector into a corresponding internal selector object: ${reason}`,
      );
    }
    this.selectors.set(key, selector);
    const { namespace = '', name } = autoscaler.metadata;
    const pods = this.pods.lister.list(namespace).filter((pod) => selector.matches(pod.metadata.labels));
    const rival = this.rivalOf(key, namespace, pods);
    if (rival)
      return refuse(
        'AmbiguousSelector',
        'AmbiguousSelector',
        `pods by selector ${text} are controlled by more than one HPA (e.g. [${[name, rival]
          .sort()
          .map((n) => `{${n} ${namespace}}`)
          .join(' ')}])`,
      );
    return pods;
  }

  /** Another autoscaler whose target has some of the same Pods. */
  private rivalOf(key: string, namespace: string, pods: readonly Pod[]): string | undefined {
    const prefix = `${namespace}/`;
    for (const [other, selector] of this.selectors) {
      if (other === key || !other.startsWith(prefix) || !this.autoscalers.lister.getByKey(other)) continue;
      if (pods.some((pod) => selector.matches(pod.metadata.labels))) return other.slice(prefix.length);
    }
    return undefined;
  }

  private async targetOf({ metadata, spec }: HorizontalPodAutoscaler): Promise<Target> {
    const { apiVersion = '', kind, name } = spec.scaleTargetRef;
    const { namespace } = metadata;
    let first: unknown;
    for (const descriptor of await this.kinds.of(apiVersion, kind)) {
      try {
        return { descriptor, scale: await this.context.client.for(descriptor).getScale(name, { namespace }) };
      } catch (error) {
        first ??= error;
      }
    }
    throw first;
  }

  /** Repeated on conflict: the count alone is this controller's. */
  private async rescale(
    { metadata }: HorizontalPodAutoscaler,
    { descriptor, scale }: Target,
    replicas: number,
  ): Promise<void> {
    const { namespace } = metadata;
    const { name } = scale.metadata;
    const target = this.context.client.for(descriptor);
    let current = scale;
    for (let attempt = 1; ; attempt++) {
      try {
        await target.updateScale(name, { ...current, spec: { ...current.spec, replicas } }, { namespace });
        return;
      } catch (error) {
        if (!isConflict(error) || attempt === conflictRetries) throw error;
        current = await target.getScale(name, { namespace });
      }
    }
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

  private tolerancesOf({ spec }: HorizontalPodAutoscaler): Tolerances {
    const standard = Number(this.context.flags['horizontal-pod-autoscaler-tolerance']);
    const own = (tolerance: string | number | undefined): number =>
      tolerance === undefined ? standard : Quantity.parse(tolerance).toNumber();
    return { up: own(spec.behavior?.scaleUp?.tolerance), down: own(spec.behavior?.scaleDown?.tolerance) };
  }

  private readinessRules(now: number) {
    const { flags } = this.context;
    return {
      now,
      cpuInitializationMs: flags['horizontal-pod-autoscaler-cpu-initialization-period'],
      initialReadinessDelayMs: flags['horizontal-pod-autoscaler-initial-readiness-delay'],
    };
  }
}

const invalidMetrics = (failed: number, all: number, first: Error): string =>
  `invalid metrics (${failed} invalid out of ${all}), first error is: ${first.message}`;
