import { Nodes, Pods } from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';
import { UsageError, type RunContext } from '@tinkernetes/component-base';
import { createEventRecorder } from '@tinkernetes/controller';
import type { SharedInformerFactory } from '@tinkernetes/informers';
import { SchedulerCache } from '../cache/scheduler-cache';
import { createProfilePlugins } from '../config/profile-plugins';
import type { ProfileConfiguration, SchedulerConfiguration } from '../config/types';
import { Extenders } from '../extenders/consult';
import type { Extender } from '../extenders/extender';
import { Framework } from '../framework/framework';
import type { Handle } from '../framework/types';
import { PodNominator } from '../queue/nominator';
import { SchedulingQueue } from '../queue/scheduling-queue';
import { Attempts } from './attempts';
import { addEventHandlers } from './event-handlers';
import { createSchedulerMetrics } from './metrics';
import { noNodes, Scheduler } from './scheduler';

export interface CreateSchedulerOptions {
  configuration: SchedulerConfiguration;
  client: Client;
  informers: SharedInformerFactory;
  context: Pick<RunContext, 'clock' | 'random' | 'logger' | 'metrics' | 'tracer'>;
  extenders?: readonly Extender[];
  signal: AbortSignal;
}

export interface AssembledScheduler {
  scheduler: Scheduler;
  queue: SchedulingQueue;
  cache: SchedulerCache;
  attempts: Attempts;
  /** Resolves when all events have been sent. */
  flushEvents(): Promise<void>;
}

/** Puts the parts together. The informers must be started by the caller afterwards. */
export function createScheduler(options: CreateSchedulerOptions): AssembledScheduler {
  const { configuration, client, informers, signal } = options;
  const { clock, random, logger, metrics, tracer } = options.context;
  const cache = new SchedulerCache();
  const nominator = new PodNominator();
  const extenders = new Extenders(options.extenders ?? [], logger, signal);
  const schedulerMetrics = createSchedulerMetrics(metrics);
  const frameworks = new Map<string, Framework>();
  const recorders = new Map(
    configuration.profiles.map(({ schedulerName }) => [
      schedulerName,
      createEventRecorder({ client, component: schedulerName, clock, logger, signal }),
    ]),
  );
  const queue: SchedulingQueue = new SchedulingQueue({
    clock,
    less: (a, b) => anyFramework(frameworks).less(a, b),
    preEnqueue: (pod) => frameworks.get(pod.spec?.schedulerName ?? '')?.preEnqueue(pod),
    hintsOf: (plugin) =>
      plugin === noNodes.name ? noNodes.events : anyFramework(frameworks).hintsOf(plugin),
    initialBackoffMs: configuration.podInitialBackoffMs,
    maxBackoffMs: configuration.podMaxBackoffMs,
    maxUnschedulableMs: configuration.podMaxUnschedulableMs,
    onIncoming: (name, event) => schedulerMetrics.incoming.inc({ queue: name, event }),
  });
  const makeFramework = (profile: ProfileConfiguration): Framework => {
    const recorder = recorders.get(profile.schedulerName);
    if (!recorder) throw new UsageError(`no event recorder for ${profile.schedulerName}`);
    const handle: Handle = {
      profile: profile.schedulerName,
      client,
      informers,
      clock,
      random,
      logger,
      recorder,
      nominator,
      signal,
      extenders,
      preempting(victims) {
        schedulerMetrics.preemptionAttempts.inc();
        schedulerMetrics.preemptionVictims.observe(victims);
      },
      snapshot: () => cache.lastSnapshot,
      filterWithNominatedPods: (state, pod, node) => framework.filterWithNominatedPods(state, pod, node),
      addPodToState: (state, pod, change) => framework.addPodToState(state, pod, change),
      removePodFromState: (state, pod, change) => framework.removePodFromState(state, pod, change),
      activateHeldBack: (pod, plugin) => queue.activateHeldBack(pod, plugin),
      rejectWaitingPod: (uid, reason) =>
        [...frameworks.values()].some((f) =>
          f.waitingPods.reject(uid, { reason, plugin: profile.schedulerName }),
        ),
    };
    const framework: Framework = new Framework(
      profile.schedulerName,
      createProfilePlugins(profile, handle),
      handle,
      (point, status, seconds) =>
        schedulerMetrics.extensionPoint.observe(seconds, {
          extension_point: point,
          status,
          profile: profile.schedulerName,
        }),
    );
    return framework;
  };
  for (const profile of configuration.profiles) frameworks.set(profile.schedulerName, makeFramework(profile));
  addEventHandlers({
    informers,
    cache,
    queue,
    nominator,
    isOurs: (pod) => frameworks.has(pod.spec?.schedulerName ?? ''),
  });
  informers.for(Nodes);
  const attempts = new Attempts();
  const percentages = new Map(
    configuration.profiles.map((p) => [p.schedulerName, p.percentageOfNodesToScore]),
  );
  const scheduler = new Scheduler({
    cache,
    queue,
    frameworks,
    nominator,
    client,
    pods: informers.for(Pods).lister,
    recorders,
    clock,
    random,
    logger,
    tracer,
    metrics: schedulerMetrics,
    attempts,
    extenders,
    signal,
    percentageOfNodesToScore: (profile) => percentages.get(profile) ?? configuration.percentageOfNodesToScore,
  });
  return {
    scheduler,
    queue,
    cache,
    attempts,
    async flushEvents() {
      await Promise.all([...recorders.values()].map((recorder) => recorder.flush()));
    },
  };
}

/** All profiles share one queue, so they must agree on how it is sorted. */
function anyFramework(frameworks: ReadonlyMap<string, Framework>): Framework {
  const [first] = frameworks.values();
  if (!first) throw new UsageError('no profile is configured');
  return first;
}
