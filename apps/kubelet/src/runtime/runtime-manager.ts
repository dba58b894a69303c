import type { Container, Pod, Secret } from '@tinkernetes/api';
import type { Clock, Logger, StepTracer, TraceParent } from '@tinkernetes/component-base';
import { isCriError, type DeepPartial, type PodSandboxConfig, type RuntimeClient } from '@tinkernetes/cri';
import { join } from 'node:path';
import type { ImageManager } from '../images/image-manager';
import { isSidecar, podText, uidOf } from '../pods/pod-facts';
import { attemptsByLogs, removeLogs } from './container-logs';
import { surplusOnNode, surplusRuns, type ContainerGCPolicy } from './container-gc';
import type { ProbeResults } from './container-kill';
import type { ContainerKiller, KillOptions } from './container-killer';
import type { ContainerResizer } from './container-resizer';
import type { ContainerStarter, PodInputs } from './container-starter';
import { ImageVolumes } from './image-volumes';
import { computePodActions, type PodActions } from './pod-actions';
import type { PodCache } from './pod-cache';
import type { PodEvents } from './pod-events';
import {
  findContainer,
  runningContainers,
  type PodRuntimeStatus,
  type RuntimeContainer,
} from './pod-runtime-status';
import { podStep } from './pod-step';
import { cgroupParent, qosClassOf } from './resources';
import { StartError } from './start-error';
import { unlessAborted } from './unless-aborted';

export interface RuntimeManagerDeps {
  images: Pick<ImageManager, 'ensure'>;
  runtime: RuntimeClient;
  starter: ContainerStarter;
  killer: ContainerKiller;
  resizer: ContainerResizer;
  cache: PodCache;
  inputs: Pick<PodInputs, 'sandbox'>;
  events: PodEvents;
  probes: ProbeResults;
  logger: Logger;
  tracer: StepTracer;
  clock: Clock;
  gcPolicy: ContainerGCPolicy;
  nodeName: string;
}

/** Why containers of a Pod wait, by container name. */
export type WaitingContainers = ReadonlyMap<string, StartError>;

export interface SyncPodResult {
  waiting: WaitingContainers;
  /** A running container could not be given its resources. */
  resizeError?: Error;
  /** The sandbox could not be made. */
  sandboxError?: Error;
  /** The soonest that something that waits may be tried again. */
  retryAfterMs?: number;
}

const startsAnything = (actions: PodActions): boolean =>
  actions.initContainersToStart.length +
    actions.containersToStart.length +
    actions.ephemeralContainersToStart.length >
  0;

/** A container that could not be made is tried again after so long, if nothing that it needs comes up earlier. */
const startRetryMs = 10_000;

/** Brings the runtime to what a Pod's spec says. Source: pkg/kubelet/kuberuntime SyncPod. */
export class RuntimeManager {
  constructor(private readonly deps: RuntimeManagerDeps) {}

  async syncPod(
    pod: Pod,
    status: PodRuntimeStatus,
    {
      pullSecrets,
      trace,
      signal,
    }: {
      pullSecrets: readonly Secret[];
      trace: TraceParent | undefined;
      /** The Pod has to end: nothing more is started, and no hook and no end of a container is waited for. */
      signal: AbortSignal;
    },
  ): Promise<SyncPodResult> {
    const { killer, events } = this.deps;
    const actions = computePodActions(pod, status, this.deps.probes);
    const waiting = new Map<string, StartError>();
    if (actions.restartAll) return this.restartAll(pod, status, actions.restartAll);
    let resizeError: Error | undefined;
    if (actions.killPod) {
      if (status.sandboxes.length > 0) {
        if (actions.createSandbox && status.containers.length > 0) {
          events.pod(
            pod,
            'Normal',
            'SandboxChanged',
            'Pod sandbox changed, it will be killed and re-created.',
          );
        }
        await unlessAborted(signal, killer.killPod(pod, status));
      }
      if (!actions.createSandbox) return { waiting };
    } else {
      const resize = await this.deps.resizer.resize(pod, status);
      resizeError = resize.error;
      for (const restart of resize.restarts) {
        if (actions.containersToKill.some((k) => k.target === restart.target)) continue;
        actions.containersToKill.push(restart);
        actions.containersToStart.push(restart.container);
      }
      for (const { target, reason, message } of actions.containersToKill) {
        const kill = killer.kill(pod, target, status.ips[0] ?? '', { reason, message });
        await unlessAborted(signal, kill);
      }
    }
    let { sandboxId } = actions;
    let podIPs = status.ips;
    if (!actions.createSandbox && !startsAnything(actions)) return { waiting, resizeError };
    let config: DeepPartial<PodSandboxConfig>;
    try {
      config = this.deps.inputs.sandbox(pod, actions.attempt);
      if (actions.createSandbox) ({ sandboxId, podIPs } = await this.createSandbox(pod, config, trace));
    } catch (error) {
      const text = isCriError(error) ? String(error) : (error as Error).message;
      events.pod(pod, 'Warning', 'FailedCreatePodSandBox', `Failed to create pod sandbox: ${text}`);
      return { waiting, sandboxError: error as Error };
    }
    const imageVolumes = new ImageVolumes(pod, this.deps.images, {
      sandboxConfig: config,
      pullSecrets,
      traceParent: trace,
    });
    const start = async (container: Container) => {
      signal.throwIfAborted();
      const current = findContainer(status, container.name);
      try {
        await this.deps.starter.start(pod, container, {
          sandboxId: sandboxId ?? '',
          config,
          podIPs,
          attempt: current
            ? current.restartCount + 1
            : attemptsByLogs(join(config.logDirectory ?? '', container.name)),
          pullSecrets,
          imageVolumes,
          trace,
          signal,
          status,
        });
      } catch (error) {
        if (!(error instanceof StartError)) throw error;
        waiting.set(container.name, error);
        this.deps.logger.debug(
          { pod: podText(pod), container: container.name, reason: error.reason },
          error.message,
        );
      }
    };
    for (const c of actions.ephemeralContainersToStart) await start(c);
    for (const c of actions.initContainersToStart) await start(c);
    for (const c of actions.containersToStart) await start(c);
    const delays = [...waiting.values()].map((e) => e.retryAfterMs ?? startRetryMs);
    // The next container needs nothing but that this one has started.
    if (actions.initContainersToStart.some((c) => isSidecar(c) && !waiting.has(c.name))) delays.push(0);
    return { waiting, resizeError, retryAfterMs: delays.length > 0 ? Math.min(...delays) : undefined };
  }

  /**
   * Ends and removes all containers at once, without hooks, but not the sandbox: the next sync finds a Pod that has run
   * nothing. What caused it goes last, so that a kubelet that is restarted meanwhile still sees it. Upstream knows no
   * back-off here; a container that ends at once would keep the node busy with nothing else.
   * Source: KEP-5532; pkg/kubelet/kuberuntime ContainersToReset.
   */
  private async restartAll(
    pod: Pod,
    status: PodRuntimeStatus,
    { container, exited }: NonNullable<PodActions['restartAll']>,
  ): Promise<SyncPodResult> {
    try {
      this.deps.starter.checkBackOff(pod, container, exited.finishedAt);
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      return { waiting: new Map([[container.name, error]]), retryAfterMs: error.retryAfterMs };
    }
    const ours = status.containers.filter(
      ({ name }) => !pod.spec.ephemeralContainers?.some((c) => c.name === name),
    );
    const message = 'Stopping container, all containers of the Pod are restarted';
    await Promise.all(
      runningContainers({ ...status, containers: ours }).map((target) =>
        this.deps.killer.kill(pod, target, status.ips[0] ?? '', { gracePeriodSeconds: 0, message }),
      ),
    );
    const causes = ours.filter((c) => c.name === container.name);
    await this.remove(status, [...ours.filter((c) => c.name !== container.name), ...causes]);
    return { waiting: new Map(), retryAfterMs: 0 };
  }

  async killPod(pod: Pod, status: PodRuntimeStatus, options: KillOptions): Promise<void> {
    await this.deps.killer.killPod(pod, status, options);
  }

  /** Removes what a finished Pod left in the runtime. */
  async removePod(status: PodRuntimeStatus): Promise<void> {
    const { runtime, cache } = this.deps;
    await Promise.all(status.containers.map((c) => runtime.removeContainer({ containerId: c.id })));
    await Promise.all(status.sandboxes.map((s) => runtime.removePodSandbox({ podSandboxId: s.id })));
    this.deps.resizer.forget(status);
    cache.forget(status.uid);
  }

  /** Keeps as many ended runs of each container as `logs --previous` may want, and the newest sandbox. */
  async collectGarbage(status: PodRuntimeStatus): Promise<void> {
    const { runtime, cache, clock, gcPolicy } = this.deps;
    await this.removeWithLogs(status, surplusRuns(status.containers, gcPolicy, clock.now()));
    for (const sandbox of status.sandboxes.slice(1)) {
      if (sandbox.state === 'SANDBOX_READY' || status.containers.some((c) => c.sandboxId === sandbox.id))
        continue;
      await runtime.removePodSandbox({ podSandboxId: sandbox.id });
      cache.invalidate(status.uid);
    }
  }

  /** Ended containers of all Pods, where there is a limit for the node. */
  async collectGarbageOnNode(statuses: readonly PodRuntimeStatus[]): Promise<void> {
    const { clock, gcPolicy } = this.deps;
    if (gcPolicy.maxOnNode < 0) return;
    const surplus = new Set(
      surplusOnNode(
        statuses.map((s) => s.containers),
        gcPolicy,
        clock.now(),
      ),
    );
    for (const status of statuses)
      await this.removeWithLogs(
        status,
        status.containers.filter((c) => surplus.has(c)),
      );
  }

  /** Everything that has ended, but for what tells how a container ended last. */
  async removeEnded(status: PodRuntimeStatus): Promise<void> {
    const now = this.deps.clock.now();
    await this.removeWithLogs(
      status,
      surplusRuns(status.containers, { maxPerContainer: 1, minAgeMs: 0 }, now),
    );
  }

  /** Nobody can ask for their logs any more. */
  private async removeWithLogs(
    status: PodRuntimeStatus,
    containers: readonly RuntimeContainer[],
  ): Promise<void> {
    await this.remove(status, containers);
    for (const { logPath } of containers) await removeLogs(logPath);
  }

  private async remove({ uid }: PodRuntimeStatus, containers: readonly RuntimeContainer[]): Promise<void> {
    const { runtime, cache } = this.deps;
    for (const { id } of containers) {
      cache.expect(uid, id, 'removed');
      await runtime.removeContainer({ containerId: id }).catch((error: unknown) => {
        cache.failed(uid, id);
        throw error;
      });
    }
  }

  forget(pod: Pod): void {
    this.deps.starter.forget(pod);
  }

  private async createSandbox(
    pod: Pod,
    config: DeepPartial<PodSandboxConfig>,
    trace: TraceParent | undefined,
  ): Promise<{ sandboxId: string; podIPs: readonly string[] }> {
    const { runtime, tracer, cache } = this.deps;
    await tracer.step(
      'kubelet.cgroup',
      podStep(this.deps.nodeName, pod, trace, { qosClass: qosClassOf(pod), cgroupParent: cgroupParent(pod) }),
      () => undefined,
    );
    const uid = uidOf(pod);
    const { podSandboxId } = await tracer
      .step('kubelet.cri', podStep(this.deps.nodeName, pod, trace, { call: 'RunPodSandbox' }), (span) =>
        runtime.runPodSandbox(
          { config, runtimeHandler: pod.spec.runtimeClassName ?? '' },
          { traceParent: span.traceParent, timeoutTimes: 2 },
        ),
      )
      .catch((error: unknown) => {
        cache.invalidate(uid);
        throw error;
      });
    cache.expect(uid, podSandboxId, 'running');
    return { sandboxId: podSandboxId, podIPs: (await cache.get(uid)).ips };
  }
}
