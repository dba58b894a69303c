import type { Container, Pod, Secret } from '@tinkernetes/api';
import type { Clock, Logger, StepOptions, StepTracer, TraceParent } from '@tinkernetes/component-base';
import type { DeepPartial, Mount, PodSandboxConfig, RuntimeClient } from '@tinkernetes/cri';
import type { Environment } from '../environment/environment';
import { ContainerConfigError } from '../environment/environment';
import type { ImageManager } from '../images/image-manager';
import { podText, uidOf } from '../pods/pod-facts';
import { BackOff, durationText } from './back-off';
import { containerConfig } from './container-config';
import { containerHash } from './container-hash';
import { ContainerResizer } from './container-resizer';
import type { ContainerKiller, KillOptions } from './container-killer';
import type { ProbeResults } from './container-kill';
import { runHook, type HookDeps } from './lifecycle-hooks';
import { computePodActions } from './pod-actions';
import type { PodCache } from './pod-cache';
import type { PodEvents } from './pod-events';
import { findContainer, type PodRuntimeStatus } from './pod-runtime-status';
import { cgroupParent, qosClassOf } from './resources';
import { StartError } from './start-error';

/** What the rest of the kubelet contributes to a container. */
export interface PodInputs {
  sandbox(pod: Pod, attempt: number): Promise<DeepPartial<PodSandboxConfig>>;
  environment(pod: Pod, container: Container, podIPs: readonly string[]): Promise<Environment>;
  mounts(
    pod: Pod,
    container: Container,
    podIPs: readonly string[],
  ): Promise<ReadonlyArray<DeepPartial<Mount>>>;
}

export interface RuntimeManagerDeps extends HookDeps {
  runtime: RuntimeClient;
  images: ImageManager;
  cache: PodCache;
  killer: ContainerKiller;
  inputs: PodInputs;
  events: PodEvents;
  probes: ProbeResults;
  clock: Clock;
  logger: Logger;
  tracer: StepTracer;
  nodeName: string;
  memoryCapacity: number;
  maxCrashBackOffMs: number;
}

/** Why containers of a Pod wait, by container name. */
export type WaitingContainers = ReadonlyMap<string, StartError>;

export interface SyncPodResult {
  waiting: WaitingContainers;
  /** The sandbox could not be made. */
  sandboxError?: Error;
  /** The soonest that something that waits may be tried again. */
  retryAfterMs?: number;
}

const initialCrashBackOffMs = 10_000;

/** Brings the runtime to what a Pod's spec says. Source: pkg/kubelet/kuberuntime SyncPod. */
export class RuntimeManager {
  private readonly backOff: BackOff;
  private readonly resizer: ContainerResizer;

  constructor(private readonly deps: RuntimeManagerDeps) {
    this.resizer = new ContainerResizer(deps.runtime, deps.memoryCapacity);
    this.backOff = new BackOff(deps.clock, initialCrashBackOffMs, deps.maxCrashBackOffMs);
  }

  async syncPod(
    pod: Pod,
    status: PodRuntimeStatus,
    { pullSecrets, trace }: { pullSecrets: readonly Secret[]; trace: TraceParent | undefined },
  ): Promise<SyncPodResult> {
    const { cache, killer, events } = this.deps;
    const actions = computePodActions(pod, status, this.deps.probes);
    const waiting = new Map<string, StartError>();
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
        await killer.killPod(pod, status);
        cache.invalidate(uidOf(pod));
      }
      if (!actions.createSandbox) return { waiting };
    } else {
      for (const restart of await this.resizer.resize(pod, status)) {
        if (actions.containersToKill.some((k) => k.target === restart.target)) continue;
        actions.containersToKill.push(restart);
        actions.containersToStart.push(restart.container);
      }
      for (const { target, reason, message } of actions.containersToKill) {
        await killer.kill(pod, target, status.ips[0] ?? '', { reason, message });
        cache.invalidate(uidOf(pod));
      }
    }
    let { sandboxId } = actions;
    let podIPs = status.ips;
    const config = await this.deps.inputs.sandbox(pod, actions.attempt);
    if (actions.createSandbox) {
      try {
        ({ sandboxId, podIPs } = await this.createSandbox(pod, config, trace));
      } catch (error) {
        const text = String(error);
        events.pod(pod, 'Warning', 'FailedCreatePodSandBox', `Failed to create pod sandbox: ${text}`);
        return { waiting, sandboxError: error as Error };
      }
    }
    const start = async (container: Container) => {
      const current = findContainer(status, container.name);
      try {
        this.checkBackOff(pod, container, current?.state === 'exited' ? current.finishedAt : undefined);
        await this.startContainer(pod, container, {
          sandboxId: sandboxId ?? '',
          config,
          podIPs,
          attempt: current ? current.restartCount + 1 : 0,
          pullSecrets,
          trace,
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
    const delays = [...waiting.values()].flatMap((e) => e.retryAfterMs ?? []);
    return { waiting, retryAfterMs: delays.length > 0 ? Math.min(...delays) : undefined };
  }

  async killPod(pod: Pod, status: PodRuntimeStatus, options: KillOptions): Promise<void> {
    await this.deps.killer.killPod(pod, status, options);
    this.deps.cache.invalidate(uidOf(pod));
  }

  /** Removes what a finished Pod left in the runtime. */
  async removePod(status: PodRuntimeStatus): Promise<void> {
    const { runtime, cache } = this.deps;
    await Promise.all(status.containers.map((c) => runtime.removeContainer({ containerId: c.id })));
    await Promise.all(status.sandboxes.map((s) => runtime.removePodSandbox({ podSandboxId: s.id })));
    this.resizer.forget(status);
    cache.forget(status.uid);
  }

  /** Keeps the newest dead instance of each container (for `logs --previous`) and the newest sandbox. */
  async collectGarbage(status: PodRuntimeStatus): Promise<void> {
    const { runtime, cache } = this.deps;
    const seen = new Set<string>();
    for (const container of status.containers) {
      if (container.state !== 'exited') continue;
      if (!seen.has(container.name)) seen.add(container.name);
      else {
        await runtime.removeContainer({ containerId: container.id });
        cache.invalidate(status.uid);
      }
    }
    for (const sandbox of status.sandboxes.slice(1)) {
      if (sandbox.state === 'SANDBOX_READY' || status.containers.some((c) => c.sandboxId === sandbox.id))
        continue;
      await runtime.removePodSandbox({ podSandboxId: sandbox.id });
      cache.invalidate(status.uid);
    }
  }

  forget(pod: Pod): void {
    this.backOff.forget(uidOf(pod));
    this.deps.images.forget(pod);
  }

  private step(
    pod: Pod,
    parent: TraceParent | undefined,
    attributes?: StepOptions['attributes'],
  ): StepOptions {
    const { name, namespace, uid } = pod.metadata;
    return { parent, node: this.deps.nodeName, object: { kind: 'Pod', namespace, name, uid }, attributes };
  }

  private async createSandbox(
    pod: Pod,
    config: DeepPartial<PodSandboxConfig>,
    trace: TraceParent | undefined,
  ): Promise<{ sandboxId: string; podIPs: readonly string[] }> {
    const { runtime, tracer, cache } = this.deps;
    await tracer.step(
      'kubelet.cgroup',
      this.step(pod, trace, { qosClass: qosClassOf(pod), cgroupParent: cgroupParent(pod) }),
      () => undefined,
    );
    const { podSandboxId } = await tracer.step(
      'kubelet.cri',
      this.step(pod, trace, { call: 'RunPodSandbox' }),
      (span) =>
        runtime.runPodSandbox(
          { config, runtimeHandler: pod.spec.runtimeClassName ?? '' },
          { traceParent: span.traceParent, timeoutMs: 240_000 },
        ),
    );
    cache.invalidate(uidOf(pod));
    const { status } = await runtime.podSandboxStatus({ podSandboxId });
    const network = status?.network;
    return {
      sandboxId: podSandboxId,
      podIPs: network?.ip ? [network.ip, ...network.additionalIps.map((a) => a.ip)] : [],
    };
  }

  /** Throws CrashLoopBackOff while the container has to wait after its end at `finishedAt`. */
  private checkBackOff(pod: Pod, container: Container, finishedAt: number | undefined): void {
    if (finishedAt === undefined) return;
    const key = `${uidOf(pod)}_${container.name}_${containerHash(container)}`;
    const retryAfterMs = this.backOff.remaining(key, finishedAt);
    if (retryAfterMs > 0) {
      const delay = durationText(this.backOff.delay(key));
      this.deps.events.container(pod, container.name, {
        type: 'Warning',
        reason: 'BackOff',
        message: `Back-off restarting failed container ${container.name} in pod ${podText(pod)}`,
      });
      throw new StartError(
        'CrashLoopBackOff',
        `back-off ${delay} restarting failed container=${container.name} pod=${podText(pod)}`,
        { retryAfterMs },
      );
    }
    this.backOff.next(key, finishedAt);
  }

  private async startContainer(
    pod: Pod,
    container: Container,
    at: {
      sandboxId: string;
      config: DeepPartial<PodSandboxConfig>;
      podIPs: readonly string[];
      attempt: number;
      pullSecrets: readonly Secret[];
      trace: TraceParent | undefined;
      status: PodRuntimeStatus;
    },
  ): Promise<void> {
    const { runtime, images, events, inputs, cache, tracer } = this.deps;
    const step = this.step(pod, at.trace, { container: container.name });
    const failed = (error: unknown, message = String(error)) => {
      events.container(pod, container.name, {
        type: 'Warning',
        reason: 'Failed',
        message: `Error: ${message}`,
      });
      return message;
    };
    let image: string;
    try {
      ({ image } = await images.ensure({
        pod,
        container,
        sandboxConfig: at.config,
        pullSecrets: at.pullSecrets,
        traceParent: at.trace,
      }));
    } catch (error) {
      if (error instanceof StartError) failed(error, error.reason);
      throw error;
    }
    const target = container as Container & { targetContainerName?: string };
    const config = await tracer
      .step('kubelet.containerconfig', step, async () =>
        containerConfig(pod, container, {
          attempt: at.attempt,
          image,
          env: await inputs.environment(pod, container, at.podIPs),
          mounts: await inputs.mounts(pod, container, at.podIPs),
          memoryCapacity: this.deps.memoryCapacity,
          targetId: target.targetContainerName
            ? findContainer(at.status, target.targetContainerName)?.id
            : undefined,
        }),
      )
      .catch((error: unknown) => {
        const message = error instanceof Error ? error.message : String(error);
        if (!(error instanceof ContainerConfigError)) {
          this.deps.logger.warn(
            { pod: podText(pod), container: container.name, err: error },
            'no container config',
          );
        }
        throw new StartError('CreateContainerConfigError', failed(error, message), { cause: error });
      });
    const containerId = await runtime
      .createContainer(
        { podSandboxId: at.sandboxId, config, sandboxConfig: at.config },
        { traceParent: at.trace },
      )
      .then(
        (answer) => answer.containerId,
        (error: unknown) => {
          throw new StartError('CreateContainerError', failed(error, messageOf(error)), { cause: error });
        },
      );
    cache.invalidate(uidOf(pod));
    this.resizer.started(containerId, pod, container);
    events.container(pod, container.name, { reason: 'Created', message: 'Container created' });
    tracer.record('kubelet.metadata', {
      ...step,
      startMs: this.deps.clock.now(),
      attributes: {
        container: container.name,
        containerId,
        sandboxId: at.sandboxId,
        logPath: config.logPath ?? '',
      },
    });
    await runtime.startContainer({ containerId }, { traceParent: at.trace }).catch((error: unknown) => {
      throw new StartError('RunContainerError', failed(error, messageOf(error)), { cause: error });
    });
    cache.invalidate(uidOf(pod));
    events.container(pod, container.name, { reason: 'Started', message: 'Container started' });
    await this.postStart(pod, container, { containerId, podIP: at.podIPs[0] ?? '', trace: at.trace });
  }

  private async postStart(
    pod: Pod,
    container: Container,
    at: { containerId: string; podIP: string; trace: TraceParent | undefined },
  ): Promise<void> {
    const handler = container.lifecycle?.postStart;
    const { cache, killer, events, logger, tracer } = this.deps;
    const step = this.step(pod, at.trace, {
      container: container.name,
      postStart: handler !== undefined,
      probes: probeNames(container),
    });
    if (!handler) {
      tracer.record('kubelet.hooks', { ...step, startMs: this.deps.clock.now() });
      return;
    }
    try {
      await tracer.step('kubelet.hooks', step, () => runHook(handler, { pod, container, ...at }, this.deps));
    } catch (error) {
      logger.warn({ pod: podText(pod), container: container.name, err: error }, 'postStart hook failed');
      events.container(pod, container.name, {
        type: 'Warning',
        reason: 'FailedPostStartHook',
        message: 'PostStartHook failed',
      });
      const status = await cache.get(uidOf(pod));
      const target = status.containers.find((c) => c.id === at.containerId);
      if (target) await killer.kill(pod, target, at.podIP, { message: 'FailedPostStartHook' });
      cache.invalidate(uidOf(pod));
      throw new StartError('PostStartHookError', error instanceof Error ? error.message : String(error), {
        cause: error,
      });
    }
  }
}

/** The runtime's own text, as upstream puts it into events. */
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Which probes begin now, e.g. `startup, readiness`. */
const probeNames = ({ startupProbe, livenessProbe, readinessProbe }: Container): string =>
  [startupProbe && 'startup', livenessProbe && 'liveness', readinessProbe && 'readiness']
    .filter(Boolean)
    .join(', ');
