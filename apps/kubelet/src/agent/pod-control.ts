import type { Pod } from '@tinkernetes/api';
import { join } from 'node:path';
import { AllocationManager } from '../allocation/allocation-manager';
import { AllocationStore } from '../allocation/allocation-store';
import type { DeviceManager } from '../devices/device-manager';
import { MirrorPods } from '../pods/mirror-pods';
import { PodDispatcher } from '../pods/pod-dispatcher';
import { isStaticPod } from '../pods/pod-facts';
import type { PodVerdict } from '../pods/pod-status';
import { createPodSyncer } from '../pods/pod-syncer';
import { PodWorkers } from '../pods/pod-workers';
import { StatusGenerator } from '../pods/status-generator';
import { StatusManager } from '../pods/status-manager';
import type { ProbeManager } from '../prober/probe-manager';
import { StaticPodSource } from '../sources/static-pod-source';
import type { AgentContext } from './agent-context';
import type { PodContainers } from './pod-containers';
import type { PodStorage } from './pod-storage';

/** Which Pods there are, what their workers do and what is told of them. */
export interface PodControl {
  readonly pods: PodDispatcher;
  readonly workers: PodWorkers;
  readonly statuses: StatusManager;
  readonly staticPods: StaticPodSource;
}

export interface PodControlParts {
  storage: PodStorage;
  containers: PodContainers;
  probes: ProbeManager;
  devices: DeviceManager;
  /** Why the node as it is does not take the Pod. */
  nodeRefusal(pod: Pod): PodVerdict | undefined;
  /** A worker has nothing left to do. */
  onFinished(): void;
}

export function createPodControl(
  agent: AgentContext,
  { storage, containers, probes, devices, nodeRefusal, onFinished }: PodControlParts,
): PodControl {
  const { options, context, client, shared, events, directories, node, nodeUID, traceOf } = agent;
  const { clock, random, logger, tracer, signal } = context;
  const { runtime, cache, health, starts } = shared;
  const { nodeName, nodeIPs: hostIPs, ownerLabel, podLogsDir } = options;
  const { runtimes, resizer } = containers;
  const mirrors = new MirrorPods({ client, clock, logger, signal, nodeName, nodeUID });
  const statuses = new StatusManager({
    client,
    clock,
    logger,
    tracer,
    nodeName,
    traceOf,
    signal,
    apiPodOf: (pod) => (isStaticPod(pod) ? mirrors.of(pod) : pod),
    canBeDeleted: (uid) => workers.state(uid) === 'finished',
  });
  const allocations = new AllocationManager({
    store: new AllocationStore(join(options.rootDir, 'allocated_pods_state'), logger),
    events,
    node,
    activePods: agent.activePods,
  });
  const { runtimeName } = shared.facts.version;
  const generator = new StatusGenerator({
    statuses,
    probes,
    clock,
    allocations,
    resizer,
    runtimeName,
    hostIPs,
  });
  const workers: PodWorkers = new PodWorkers({
    clock,
    random,
    logger,
    syncFrequencyMs: options.syncFrequencyMs,
    onFinished: (pod) => {
      pods.finished(pod);
      onFinished();
      for (const uid of allocations.deferred()) workers.wakeUp(uid);
    },
    syncer: createPodSyncer({
      runtimes,
      allocations,
      cache,
      statuses,
      generator,
      probes,
      volumes: storage.volumes,
      tokens: storage.tokens,
      objects: storage.objects,
      devices,
      health,
      starts,
      directories,
      events,
      clock,
      logger,
      tracer,
      podLogsDir,
      nodeName,
      hostIPs,
      node,
      traceOf,
      requestKill: agent.kill,
      ensureMirror: (pod) => pods.ensureMirror(pod),
    }),
  });
  const pods: PodDispatcher = new PodDispatcher({
    workers,
    allocations,
    statuses,
    probes,
    mirrors,
    cache,
    runtimes,
    runtime,
    events,
    clock,
    logger,
    tracer,
    signal,
    nodeName,
    ownerLabel,
    node,
    nodeRefusal,
    traceOf,
  });
  const staticPods = new StaticPodSource({
    clock,
    logger,
    nodeName,
    path: options.staticPodPath,
    url: options.staticPodURL,
    headers: options.staticPodURLHeaders,
    fileCheckMs: options.fileCheckMs,
    httpCheckMs: options.httpCheckMs,
    onPods: (source, found) => pods.staticPods(source, found),
  });
  return { pods, workers, statuses, staticPods };
}
