import type { Node, Pod, PodStatus, Secret } from '@tinkernetes/api';
import type { Clock, Logger, StepTracer, TraceParent } from '@tinkernetes/component-base';
import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { AllocationManager } from '../allocation/allocation-manager';
import { DeviceError, type DeviceManager } from '../devices/device-manager';
import type { RuntimeHealth } from '../node/runtime-health';
import type { ProbeManager } from '../prober/probe-manager';
import type { PodCache } from '../runtime/pod-cache';
import type { PodEvents } from '../runtime/pod-events';
import type { PodRuntimeStatus } from '../runtime/pod-runtime-status';
import type { RuntimeManager } from '../runtime/runtime-manager';
import { unlessAborted } from '../runtime/unless-aborted';
import { podLogDirectory } from '../runtime/sandbox-config';
import type { ObjectWatcher } from '../volumes/object-watcher';
import type { PodDirectories } from '../volumes/pod-directories';
import type { TokenManager } from '../volumes/token-manager';
import { MountError, type VolumeManager } from '../volumes/volume-manager';
import { isHostNetwork, isPhaseTerminal, isStaticPod, uidOf } from './pod-facts';
import { rejection } from './pod-status';
import type { KillRequest, PodSyncer, SyncOutcome } from './pod-workers';
import type { StartGate } from './start-gate';
import type { StatusGenerator } from './status-generator';
import type { StatusManager } from './status-manager';

export interface PodSyncerDeps {
  runtimes: RuntimeManager;
  allocations: AllocationManager;
  cache: PodCache;
  statuses: StatusManager;
  generator: StatusGenerator;
  probes: ProbeManager;
  volumes: VolumeManager;
  tokens: TokenManager;
  devices: Pick<DeviceManager, 'allocate'>;
  objects: ObjectWatcher;
  health: RuntimeHealth;
  starts: StartGate;
  directories: PodDirectories;
  events: PodEvents;
  clock: Clock;
  logger: Logger;
  tracer: StepTracer;
  podLogsDir: string;
  nodeName: string;
  hostIPs: readonly string[];
  node(): Node | undefined;
  traceOf(pod: Pod): TraceParent | undefined;
  requestKill(pod: Pod, request: KillRequest): void;
  /** Makes the API's copy of a static Pod. */
  ensureMirror(pod: Pod): Promise<void>;
}

/** Sooner tries come from events: the runtime's, or the missing object's. */
const networkRetryMs = 5000;
const mountRetryMs = 5000;
const resizeRetryMs = 5000;

/** The steps of a Pod's life on this node. Source: pkg/kubelet SyncPod, SyncTerminatingPod, SyncTerminatedPod. */
export function createPodSyncer(deps: PodSyncerDeps): PodSyncer {
  /** Pods that have become ready once: what happens to them later is no part of their start's trace. */
  const started = new Set<string>();
  /** Pods whose directories there are. */
  const housed = new Set<string>();

  return {
    sync(pod, signal) {
      const step = () =>
        deps.tracer.step('kubelet.sync', stepOf(pod), (span) =>
          sync(pod, { trace: span.traceParent, signal }),
        );
      return housed.has(uidOf(pod)) ? step() : deps.starts.pass(step);
    },
    terminate,
    cleanUp,
  };

  function startTraceOf(pod: Pod): TraceParent | undefined {
    const uid = uidOf(pod);
    if (isReady(deps.statuses.get(uid) ?? pod.status)) started.add(uid);
    return started.has(uid) ? undefined : deps.traceOf(pod);
  }

  function stepOf(pod: Pod, parent = startTraceOf(pod)) {
    const { name, namespace, uid } = pod.metadata;
    return { parent, node: deps.nodeName, object: { kind: 'Pod', namespace, name, uid } };
  }

  async function sync(
    asked: Pod,
    { trace, signal }: { trace: TraceParent | undefined; signal: AbortSignal },
  ): Promise<SyncOutcome> {
    const pod = deps.allocations.update(asked);
    const { cache, health, events, probes, runtimes, generator, tracer } = deps;
    const uid = uidOf(pod);
    const before = await cache.get(uid, pod.metadata.name, pod.metadata.namespace);
    probes.update(pod, before);
    const status = await tracer.step('kubelet.status.generate', stepOf(pod, trace), () =>
      generator.generate(pod, before),
    );
    report(pod, status);
    if (isPhaseTerminal(status.phase)) return { terminal: true };
    const deadlineMs = untilDeadline(pod, status);
    if (deadlineMs !== undefined && deadlineMs <= 0) {
      const message = 'Pod was active on the node longer than the specified deadline';
      events.pod(pod, 'Normal', 'DeadlineExceeded', message);
      deps.requestKill(pod, { verdict: { reason: 'DeadlineExceeded', message } });
      return {};
    }
    const blocked = health.runtimeNotReady ?? (isHostNetwork(pod) ? undefined : health.networkNotReady);
    if (blocked) {
      events.pod(pod, 'Warning', 'NetworkNotReady', `network is not ready: ${blocked}`);
      return { retryAfterMs: networkRetryMs };
    }
    if (before.containers.length === 0 && !(await haveDevices(pod))) return {};
    if (isStaticPod(pod)) await deps.ensureMirror(pod);
    let pullSecrets: Secret[];
    try {
      await tracer.step('kubelet.directories', stepOf(pod, trace), () => prepare(pod, before));
      pullSecrets = await tracer.step('kubelet.pullsecrets', stepOf(pod, trace), () => readPullSecrets(pod));
    } catch (error) {
      if (!(error instanceof MountError)) throw error;
      return { retryAfterMs: mountRetryMs };
    }
    const { result, after } = await cache.whileActing(uid, async () => ({
      result: await runtimes.syncPod(pod, before, { pullSecrets, trace, signal }),
      after: await cache.get(uid, pod.metadata.name, pod.metadata.namespace),
    }));
    deps.allocations.actuated(pod, result.resizeError);
    generator.setWaiting(uid, result.waiting);
    probes.update(pod, after);
    const final = await generator.generate(pod, after);
    if (isReady(final) && !isReady(status)) {
      tracer.record('kubelet.running', {
        ...stepOf(pod, trace),
        startMs: deps.clock.now(),
        attributes: { phase: final.phase ?? '' },
      });
    }
    report(pod, final);
    await runtimes.collectGarbage(after);
    if (result.sandboxError) throw result.sandboxError;
    const retryResize = result.resizeError ? resizeRetryMs : undefined;
    const waits = [result.retryAfterMs, deadlineMs, retryResize].flatMap((ms) => ms ?? []);
    return {
      terminal: isPhaseTerminal(final.phase),
      retryAfterMs: waits.length > 0 ? Math.min(...waits) : undefined,
    };
  }

  /** Upstream does it on admission; here it is the first thing that a Pod waits for. */
  async function haveDevices(pod: Pod): Promise<boolean> {
    try {
      await deps.devices.allocate(pod);
      return true;
    } catch (error) {
      if (!(error instanceof DeviceError)) throw error;
      const reason = 'UnexpectedAdmissionError';
      const message = `Allocate failed due to ${error.message}, which is unexpected`;
      deps.events.pod(pod, 'Warning', reason, message);
      deps.requestKill(pod, { verdict: rejection({ reason, message }) });
      return false;
    }
  }

  function report(pod: Pod, status: PodStatus): void {
    deps.statuses.set(pod, status);
  }

  async function prepare(pod: Pod, runtime: PodRuntimeStatus): Promise<void> {
    const { volumes, objects, tokens, hostIPs } = deps;
    const uid = uidOf(pod);
    if (!housed.has(uid)) makeDirectories(pod);
    objects.register(pod);
    const addresses = { podIPs: isHostNetwork(pod) ? hostIPs : runtime.ips, hostIPs };
    await volumes.mount(pod, { objects, tokens, node: deps.node(), addresses });
  }

  /** A full disk, say: the Pod tells it, and waits. */
  function makeDirectories(pod: Pod): void {
    const uid = uidOf(pod);
    try {
      for (const directory of [deps.directories.volumes(uid), deps.directories.plugins(uid)])
        mkdirSync(directory, { recursive: true, mode: 0o750 });
    } catch (error) {
      const message = `error making pod data directories: ${(error as Error).message}`;
      deps.events.pod(pod, 'Warning', 'FailedToMakePodDataDirectories', message);
      throw new MountError(message, { cause: error });
    }
    housed.add(uid);
  }

  async function readPullSecrets(pod: Pod): Promise<Secret[]> {
    const namespace = pod.metadata.namespace ?? '';
    const names = (pod.spec.imagePullSecrets ?? []).flatMap(({ name }) => name ?? []);
    const found = await Promise.all(names.map((name) => deps.objects.secret(namespace, name)));
    const missing = names.filter((_, i) => !found[i]);
    if (missing.length > 0) {
      deps.events.pod(
        pod,
        'Warning',
        'FailedToRetrieveImagePullSecret',
        `Unable to retrieve some image pull secrets (${missing.join(', ')}); attempting to pull the image may not succeed.`,
      );
    }
    return found.flatMap((secret) => secret ?? []);
  }

  /** Milliseconds left of activeDeadlineSeconds. */
  function untilDeadline(pod: Pod, status: PodStatus): number | undefined {
    const { activeDeadlineSeconds } = pod.spec;
    if (activeDeadlineSeconds === undefined || !status.startTime) return undefined;
    return Date.parse(status.startTime) + activeDeadlineSeconds * 1000 - deps.clock.now();
  }

  async function terminate(
    asked: Pod,
    { verdict, gracePeriodSeconds, signal }: KillRequest & { signal: AbortSignal },
  ): Promise<void> {
    const { cache, generator, probes, runtimes } = deps;
    const pod = deps.allocations.allocated(asked);
    const uid = uidOf(pod);
    const before = await cache.get(uid, pod.metadata.name, pod.metadata.namespace);
    probes.update(
      { ...pod, metadata: { ...pod.metadata, deletionTimestamp: pod.metadata.deletionTimestamp ?? 'now' } },
      before,
    );
    report(pod, await generator.generate(pod, before, { verdict }));
    await unlessAborted(signal, runtimes.killPod(pod, before, { gracePeriodSeconds }));
    probes.forget(uid);
    const after = await cache.get(uid, pod.metadata.name, pod.metadata.namespace);
    report(pod, await generator.generate(pod, after, { verdict, terminal: true }));
  }

  async function cleanUp(pod: Pod, { verdict }: KillRequest): Promise<void> {
    const { cache, generator, objects, tokens, volumes, runtimes } = deps;
    const uid = uidOf(pod);
    const last = await cache.get(uid, pod.metadata.name, pod.metadata.namespace);
    const status = await generator.generate(pod, last, { verdict, terminal: true });
    // Whatever the containers had come to, a Pod that will never run again has a terminal phase.
    report(pod, isPhaseTerminal(status.phase) ? status : { ...status, phase: 'Failed' });
    objects.unregister(uid);
    tokens.forget(uid);
    await volumes.remove(uid);
    if (pod.metadata.deletionTimestamp) {
      await runtimes.removePod(last);
      await rm(podLogDirectory(deps.podLogsDir, pod), { recursive: true, force: true });
    }
    generator.forget(uid);
    deps.allocations.forget(uid);
    runtimes.forget(pod);
    started.delete(uid);
    housed.delete(uid);
  }
}

const isReady = (status: PodStatus | undefined): boolean =>
  status?.phase === 'Running' && status.conditions?.find((c) => c.type === 'Ready')?.status === 'True';
